"""Classification of one or two sentences by an encoder of `transformers`: batches, rows,
validation, labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from augury.core.execution import ExecutorName
from augury.core.store import Folder
from augury.experiments.preparation import VALID, held_out
from augury.experiments.run import Run
from augury.regimes.regime import SOURCE, Embedded, Rows, ViewGroup
from augury.tasks.classifier import Reader, build, empty
from augury.tasks.regime_training import RegimeTraining, moved, stacked
from augury.text import learned
from augury.text.subwords import encode
from augury.text.tokens import Tokens
from augury.training.batching import Lengths, batches_by_length, padded
from augury.training.learner import Loaded, Validation
from augury.training.trained import load_weights
from augury.training.validation import likelihood

if TYPE_CHECKING:
    from augury.tasks.classifier_task import ClassifierConfig, ClassifierTask

CHUNK_ROWS = 2048
ROWS_PER_SECOND = 30  # that one core classifies with XLM-R base


class Batch(NamedTuple):
    """`ids` (views, B, L), padded on the right, and `labels` (B).

    Row b of every view is the same example.
    """

    ids: Tensor
    labels: Tensor


class Classification(RegimeTraining):
    """A classifier, its training examples under the view groups of its regime, and its
    validation set."""

    def __init__(self, run: Run, task: ClassifierTask):
        super().__init__(run, lambda: task.symbols(run))
        self.classes = task.labels(self.experiment)
        self.labels = self._numbered(self.examples.column("label"))
        sources = self.examples.lengths(SOURCE)
        self.lengths = Lengths(sources, np.ones_like(sources))
        self.valid = Tokens(run.stored_folder(run.tokens[held_out(SOURCE)]))
        self.valid_labels = self._numbered(run.corpus(VALID).column("label"))
        pieces = task.subwords(self.experiment, run.stored_folder(run.tokenizer))
        self.module = build(
            self.experiment.model, self.classes, learned.directory(pieces.folder), run.seed
        )
        self.tokenizer = pieces.tokenizer()
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
        return Batch(stacked(views, self.reader.pad), torch.from_numpy(labels))

    def embedded(self, batch: Batch, view: int) -> Embedded:
        """Return the words of the sentences, special ones included."""
        ids = batch.ids[view]
        with torch.no_grad():
            return Embedded(self.reader.embeddings(ids), ids, ids != self.reader.pad)

    def rows(self, batch: Batch, views: Sequence[int], perturbation: Tensor | None = None) -> Rows:
        """Return the examples of the chosen views, read in one concatenated forward pass.

        A row is an example.

        What is hidden are the logits, projected by the identity: the heads of classifiers are not
        alike, and a few classes take no memory.
        """
        logits = self.reader.logits(batch.ids[list(views)].flatten(0, 1), perturbation).float()
        identity = torch.eye(len(self.classes), device=logits.device)
        return Rows(logits.unflatten(0, (len(views), -1)), identity, None, batch.labels)

    def validate(self, device: torch.device) -> Validation:
        """Return cross-entropy and accuracy on the validation rows as they are.

        The workers share the work.
        """

        def rows(examples: np.ndarray) -> Rows:
            batch = self._batch(
                [[self.valid[row] for row in examples]], self.valid_labels[examples]
            )
            return self.rows(moved(batch, device), [0])

        lengths = Lengths(self.valid.lengths, np.ones_like(self.valid.lengths))
        loss, accuracy = likelihood(rows, lengths, self.experiment.training.max_tokens, device)
        return Validation(loss, 100 * accuracy, {"accuracy": 100 * accuracy})


def classify(
    run: Run,
    rows: Sequence[Sequence[str]],
    *,
    executor: ExecutorName = "local",
    name: str = "classify",
) -> list[int]:
    """Return the number of the likeliest label of every row, a sentence or two, by a finished
    run."""
    return run.experiment.execution.map_rows(
        _Classify(run),
        rows,
        name=name,
        unit="rows",
        per_second=ROWS_PER_SECOND,
        chunk=CHUNK_ROWS,
        executor=executor,
    )


def probabilities(run: Run, columns: Sequence[Sequence[str]]) -> np.ndarray:
    """Return the probability of every label, (rows, labels) float32 in the order of the task's
    labels.

    The model is loaded once per process, and computes on a GPU where the run may and there is one.
    """
    return _loaded(run.folder).probabilities(columns)


@dataclass(frozen=True)
class _Classify:
    """Makes the task that labels rows."""

    run: Run

    def __call__(self) -> Callable[[Sequence[Sequence[str]]], list[int]]:
        if threads := self.run.experiment.execution.threads:
            torch.set_num_threads(threads)

        def classify(rows: Sequence[Sequence[str]]) -> list[int]:
            columns = [list(column) for column in zip(*rows, strict=True)]
            labels: list[int] = probabilities(self.run, columns).argmax(1).tolist()
            return labels

        return classify


class LoadedClassifier:
    """A finished run's classifier, ready to read."""

    def __init__(self, run: Run, device: torch.device):
        from augury.experiments.task import find_task

        experiment: ClassifierConfig = run.experiment  # type: ignore[assignment]
        task: ClassifierTask = find_task(experiment.task)  # type: ignore[assignment]
        pieces = task.subwords(experiment, run.stored_folder(run.tokenizer))
        self.classes, self.device = task.labels(experiment), device
        self.tokenizer, self.max_length = pieces.tokenizer(), experiment.max_length
        self.max_tokens = experiment.training.max_tokens
        model = load_weights(
            run.folder, empty(experiment.model, self.classes, learned.directory(pieces.folder))
        )
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
def _loaded(folder: Folder) -> LoadedClassifier:
    run = Run.read(folder)
    return LoadedClassifier(run, torch.device(run.experiment.execution.local_device))
