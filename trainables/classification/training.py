"""A classifier of one or two sentences: its learner, and the labels that a finished run gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from augury.augment.draw import Symbols
from augury.core.execution import ExecutorName
from augury.core.store import Folder
from augury.experiments.graph import VALID, held_out
from augury.experiments.run import Run
from augury.regimes.regime import SOURCE, Embedded, Rows, ViewGroup
from augury.text.pieces.subwords import Subwords, encode
from augury.text.tokens import Tokens
from augury.training.batching import Lengths, batches_by_length, padded
from augury.training.learner import Loaded, Validation, likelihood
from augury.training.trained import load_weights
from trainables.classification.config import ClassifierConfig
from trainables.classification.model import Reader, build, empty
from trainables.training import RegimeTraining, pad_views, to_device


class Batch(NamedTuple):
    """`ids` (views, B, L), padded on the right, and `labels` (B).

    Row b of every view is the same example.
    """

    ids: Tensor
    labels: Tensor


class Classification(RegimeTraining):
    """A classifier with its training examples, in view groups, and its validation set."""

    def __init__(
        self,
        run: Run,
        labels: Sequence[str],
        subwords: Subwords,
        symbols: Callable[[], Symbols],
    ):
        super().__init__(run, symbols)
        self.classes = labels
        self.labels = self._numbered(self.examples.column("label"))
        sources = self.examples.lengths(SOURCE)
        self.lengths = Lengths(sources, np.ones_like(sources))
        self.valid = Tokens(run.stored_folder(run.tokens[held_out(SOURCE)]))
        self.valid_labels = self._numbered(run.corpus(VALID).column("label"))
        self.module = build(self.experiment.model, labels, subwords.directory, run.seed)
        self.tokenizer = subwords.tokenizer()
        self.reader = Reader(self.module, self.tokenizer, self.experiment.max_length)

    def _numbered(self, labels: Sequence[str]) -> np.ndarray:
        positions = {label: position for position, label in enumerate(self.classes)}
        return np.array([positions[label] for label in labels], np.int64)

    def collate(
        self,
        located: Sequence[tuple[ViewGroup, int]],
        views: Sequence[Sequence[np.ndarray]],
        number: int,
    ) -> Loaded:
        batch = self._batch(views, self.labels[[row for _, row in located]])
        return Loaded(batch, sum(len(ids) for view in views for ids in view), batch.ids.numel())

    def _batch(self, views: Sequence[Sequence[np.ndarray]], labels: np.ndarray) -> Batch:
        return Batch(pad_views(views, self.reader.pad), torch.from_numpy(labels))

    def embedded(self, batch: Batch, view: int) -> Embedded:
        """Return the word embeddings of a view, those of special tokens included."""
        ids = batch.ids[view]
        with torch.no_grad():
            return Embedded(self.reader.embeddings(ids), ids, ids != self.reader.pad)

    def rows(self, batch: Batch, views: Sequence[int], perturbation: Tensor | None = None) -> Rows:
        """Return the examples of some views as rows, computed in one forward pass.

        `hidden` has the logits, and the projection is the identity: classifiers have different
        heads, and the logits of a few classes take no memory.
        """
        logits = self.reader.logits(batch.ids[list(views)].flatten(0, 1), perturbation).float()
        identity = torch.eye(len(self.classes), device=logits.device)
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
    labels: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    executor: ExecutorName = "local",
    name: str = "classify",
) -> list[str]:
    """Return the most probable of `labels` for every row of one or two sentences."""
    numbers = run.experiment.execution.map_texts(
        _Classify(run, tuple(labels)),
        rows,
        name=name,
        unit="rows",
        per_second=ROWS_PER_SECOND,
        chunk=CHUNK_ROWS,
        executor=executor,
    )
    return [labels[number] for number in numbers]


def probabilities(run: Run, labels: Sequence[str], columns: Sequence[Sequence[str]]) -> np.ndarray:
    """Return the probability of every label, (rows, labels) float32.

    The model is loaded once per process, onto a GPU where the run allows one and there is one.
    """
    return _loaded(run.folder, tuple(labels)).probabilities(columns)


@dataclass(frozen=True)
class _Classify:
    """Creates the function that classifies rows, in every process."""

    run: Run
    labels: tuple[str, ...]

    def __call__(self) -> Callable[[Sequence[Sequence[str]]], list[int]]:
        if threads := self.run.experiment.execution.threads:
            torch.set_num_threads(threads)

        def classify(rows: Sequence[Sequence[str]]) -> list[int]:
            columns = [list(column) for column in zip(*rows, strict=True)]
            numbers: list[int] = probabilities(self.run, self.labels, columns).argmax(1).tolist()
            return numbers

        return classify


class TrainedClassifier:
    """The classifier of a finished run, with its weights."""

    def __init__(self, run: Run, labels: Sequence[str], device: torch.device):
        experiment = run.experiment
        assert isinstance(experiment, ClassifierConfig)
        subwords = Subwords(run.stored_folder(run.tokenizer), experiment.max_length)
        self.classes, self.device = labels, device
        self.tokenizer, self.max_length = subwords.tokenizer(), experiment.max_length
        self.max_tokens = experiment.training.max_tokens
        model = load_weights(run.folder, empty(experiment.model, labels, subwords.directory))
        self.reader = Reader(model.to(device), self.tokenizer, experiment.max_length)

    @torch.inference_mode()
    def probabilities(self, columns: Sequence[Sequence[str]]) -> np.ndarray:
        """Return the probability of every label, (rows, labels) float32."""
        rows, _ = encode(self.tokenizer, columns, self.max_length)
        result = np.empty((len(rows), len(self.classes)), np.float32)
        if rows:
            lengths = np.array([len(row) for row in rows])
            for batch in batches_by_length(Lengths(lengths, lengths), self.max_tokens):
                ids = torch.from_numpy(padded([rows[row] for row in batch], self.reader.pad))
                logits = self.reader.logits(ids.to(self.device)).float()
                result[batch] = logits.softmax(1).cpu().numpy()
        return result


@lru_cache(maxsize=1)
def _loaded(folder: Folder, labels: tuple[str, ...]) -> TrainedClassifier:
    run = Run.read(folder)
    return TrainedClassifier(run, labels, torch.device(run.experiment.execution.local_device))
