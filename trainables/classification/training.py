"""A classifier of one or two sentences: its learner, and the labels that a finished run gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple, cast

import numpy as np
import torch
from torch import Tensor

from augury.augment.draw import Symbols
from augury.core.execution import ExecutorName, map_texts
from augury.core.store import Folder
from augury.experiments.graph import VALID, held_out
from augury.experiments.run import Run
from augury.regimes.regime import SOURCE, Embedded, Rows
from augury.text.pieces import subwords
from augury.text.pieces.subwords import encode
from augury.text.tokens import Tokens
from augury.training.batching import Lengths, batches_by_length, padded
from augury.training.learner import Loaded, Validation, likelihood
from augury.training.trained import load_weights
from trainables.classification.config import ClassifierExperiment
from trainables.classification.model import Reader, build, empty
from trainables.training import Located, RegimeTraining, Views, pad_views, symbols_of, to_device


class Batch(NamedTuple):
    """`ids` (views, B, L), padded on the right, and `labels` (B).

    Row b of every view is the same example.
    """

    ids: Tensor
    labels: Tensor


class Classification(RegimeTraining):
    """A classifier with its training examples, in view groups, and its validation set."""

    def __init__(self, run: Run):
        super().__init__(run)
        config = self.experiment
        self.labels = self._numbered(self.examples.column("label"))
        sources = self.examples.lengths(SOURCE)
        self.lengths = Lengths(sources, np.ones_like(sources))
        self.valid = Tokens(run.stored_folder(run.tokens[held_out(SOURCE)]))
        self.valid_labels = self._numbered(run.corpus(VALID).column("label"))
        directory = subwords.directory_of(run.stored_folder(run.tokenizer))
        self.module = build(config.model, config.labels, directory, run.seed)
        self.reader = Reader(self.module, subwords.load(directory), config.max_length)

    def symbols(self) -> Symbols:
        return symbols_of(self.reader.tokenizer)

    def _numbered(self, labels: Sequence[str]) -> np.ndarray:
        positions = {label: position for position, label in enumerate(self.experiment.labels)}
        return np.array([positions[label] for label in labels], np.int64)

    def collate(self, located: Located, views: Views, epoch: int) -> Loaded:
        batch = self._batch(views, self.labels[[row for _, row in located]])
        return Loaded(batch, sum(len(ids) for view in views for ids in view), batch.ids.numel())

    def _batch(self, views: Views, labels: np.ndarray) -> Batch:
        return Batch(pad_views(views, self.reader.pad), torch.from_numpy(labels))

    def embedded(self, batch: Batch, view: int) -> Embedded:
        """Return the word embeddings of a view, those of special tokens included."""
        ids = batch.ids[view]
        with torch.no_grad():
            return Embedded(self.reader.embeddings(ids), ids != self.reader.pad)

    def rows(self, batch: Batch, views: Sequence[int], perturbation: Tensor | None = None) -> Rows:
        """Return the examples of some views as rows, computed in one forward pass.

        `hidden` has the logits, and the projection is the identity: classifiers have different
        heads, and the logits of a few classes take no memory.
        """
        logits = self.reader.logits(batch.ids[list(views)].flatten(0, 1), perturbation).float()
        identity = torch.eye(logits.shape[1], device=logits.device)
        return Rows(logits.unflatten(0, (len(views), -1)), identity, None, batch.labels)

    def validate(self, device: torch.device) -> Validation:
        """Return cross-entropy and accuracy on the plain validation rows, shared by the workers."""

        def rows(examples: np.ndarray) -> Rows:
            batch = self._batch(
                [[self.valid[row] for row in examples]], self.valid_labels[examples]
            )
            return self.rows(to_device(batch, device), [0])

        lengths = Lengths(self.valid.lengths, np.ones_like(self.valid.lengths))
        loss, accuracy = likelihood(rows, lengths, self.experiment.training.max_tokens, device)
        return Validation(loss, 100 * accuracy, {"accuracy": 100 * accuracy})


CHUNK_ROWS = 2048
ROWS_PER_SECOND = 30  # that one core classifies with XLM-R base


def classify(
    run: Run,
    rows: Sequence[Sequence[str]],
    *,
    executor: ExecutorName = "local",
    name: str = "classify",
) -> list[str]:
    """Return the most probable label of every row of one or two sentences."""
    seconds = len(rows) / ROWS_PER_SECOND
    numbers = map_texts(
        run.experiment.execution.choose(seconds, name, executor, gpus=True),
        partial(_classifier, run),
        rows,
        name=name,
        unit="rows",
        chunk=CHUNK_ROWS,
    )
    assert isinstance(run.experiment, ClassifierExperiment)
    return [run.experiment.labels[number] for number in numbers]


def _classifier(run: Run) -> Callable[[Sequence[Sequence[str]]], list[int]]:
    """Return the function that classifies rows, in every process."""
    if threads := run.experiment.execution.threads:
        torch.set_num_threads(threads)

    def classify(rows: Sequence[Sequence[str]]) -> list[int]:
        columns = [list(column) for column in zip(*rows, strict=True)]
        numbers: list[int] = probabilities(run, columns).argmax(1).tolist()
        return numbers

    return classify


@torch.inference_mode()
def probabilities(run: Run, columns: Sequence[Sequence[str]]) -> np.ndarray:
    """Return the probability of every label, (rows, labels) float32.

    The model is loaded once per process, onto a GPU where the run allows one and there is one.
    """
    reader, experiment = _loaded(run.folder), cast(ClassifierExperiment, run.experiment)
    rows, _ = encode(reader.tokenizer, columns, reader.max_length)
    result = np.empty((len(rows), len(experiment.labels)), np.float32)
    if rows:
        lengths = np.array([len(row) for row in rows])
        sizes = Lengths(lengths, lengths)
        for batch in batches_by_length(sizes, experiment.training.max_tokens):
            ids = torch.from_numpy(padded([rows[row] for row in batch], reader.pad))
            logits = reader.logits(ids.to(reader.model.device)).float()
            result[batch] = logits.softmax(1).cpu().numpy()
    return result


@lru_cache(maxsize=1)
def _loaded(folder: Folder) -> Reader:
    run = Run.read(folder)
    reader = trained(run)
    reader.model.to(run.experiment.execution.local_device)
    return reader


def trained(run: Run) -> Reader:
    """Return the classifier of a finished run, with its weights, on the CPU."""
    config = cast(ClassifierExperiment, run.experiment)
    directory = subwords.directory_of(run.stored_folder(run.tokenizer))
    model = load_weights(run.folder, empty(config.model, config.labels, directory))
    return Reader(model, subwords.load(directory), config.max_length)
