"""Classification of one or two sentences by an encoder of `transformers`: batches, rows, validation, labels, export."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from augury.core.execution import ExecutorName
from augury.core.progress import Stage
from augury.core.store import Folder
from augury.experiments.preparation import VALID, examples_of, held_out
from augury.experiments.run import Run
from augury.regimes.regime import SOURCE, Embedded, Losses, Progress, Rows
from augury.tasks.classifier import Reader, build, empty
from augury.tasks.classifier_pieces import ClassifierPieces, encode
from augury.text import learned
from augury.text.tokens import Tokens
from augury.training.batching import Lengths, padded, plan_pass
from augury.training.task import Loaded, Validation
from augury.training.trained import load_weights
from augury.training.validation import likelihood

if TYPE_CHECKING:
    from augury.tasks.classifier_task import ClassifierConfig, ClassifierTask

CHUNK_ROWS = 2048
ROWS_PER_SECOND = 30  # that one core classifies with XLM-R base


class Batch(NamedTuple):
    """`ids` (views, B, L), padded on the right, and `labels` (B); row b of every view is the same example."""

    ids: Tensor
    labels: Tensor


class Classification:
    """A classifier, its training examples under the draws of its regime, and its validation set."""

    def __init__(self, run: Run, task: ClassifierTask):
        experiment: ClassifierConfig = run.experiment  # type: ignore[assignment]
        self.experiment, self.regime = experiment, experiment.regime
        self.classes = task.labels(experiment)
        self.examples = examples_of(run, lambda: task.symbols(run))
        self.draw_rows, self.weights, self.ids = self.examples.draw_rows, self.examples.weights, self.examples.ids
        self.labels = self._numbered(self.examples.column("label"))
        sources = self.examples.lengths(SOURCE)
        self.lengths = Lengths(sources, np.ones_like(sources))
        self.valid = Tokens(run.stored(run.tokens[held_out(SOURCE)]))
        self.valid_labels = self._numbered(run.corpus(VALID).column("label"))
        pieces = task.subwords(experiment, run.stored(run.tokenizer))
        model = build(experiment.model, self.classes, learned.directory(pieces.folder), run.seed)
        self.tokenizer = pieces.tokenizer()
        self.reader = Reader(model, self.tokenizer, experiment.max_length)
        self.module: nn.Module = model

    def _numbered(self, labels: Sequence[str]) -> np.ndarray:
        positions = {label: position for position, label in enumerate(self.classes)}
        return np.array([positions[label] for label in labels], np.int64)

    def load(self, examples: np.ndarray, number: int, device: torch.device) -> Loaded:
        located = self.examples.located(examples)
        views = self.examples.views(located, number)
        batch = self._batch(views, self.labels[[row for _, row in located]])
        tokens = sum(len(ids) for view in views for ids in view)
        if device.type == "cuda":
            batch = Batch(*(tensor.pin_memory().to(device, non_blocking=True) for tensor in batch))
        return Loaded(batch, tokens, batch.ids.numel())

    def _batch(self, views: Sequence[Sequence[np.ndarray]], labels: np.ndarray) -> Batch:
        width = max(len(ids) for view in views for ids in view)
        ids = np.stack([padded(view, self.reader.pad, width) for view in views])
        return Batch(torch.from_numpy(ids), torch.from_numpy(labels))

    def embedded(self, batch: Batch, view: int) -> Embedded:
        """The words of the sentences, special ones included."""
        ids = batch.ids[view]
        with torch.no_grad():
            return Embedded(self.reader.embeddings(ids), ids, ids != self.reader.pad)

    def rows(self, batch: Batch, views: Sequence[int], perturbation: Tensor | None = None) -> Rows:
        """One forward pass over the chosen views, concatenated; a row is an example.

        What is hidden are the logits, projected by the identity: the heads of classifiers are not alike, and a few
        classes take no memory.
        """
        logits = self.reader.logits(batch.ids[list(views)].flatten(0, 1), perturbation).float()
        identity = torch.eye(len(self.classes), device=logits.device)
        return Rows(logits.unflatten(0, (len(views), -1)), identity, None, batch.labels)

    def loss(self, batch: Batch, progress: Progress) -> Losses:
        return self.regime.loss(self, batch, progress)

    def onset(self, updates_per_pass: float) -> float:
        return self.regime.onset(updates_per_pass)

    def validate(self, device: torch.device) -> Validation:
        """Cross-entropy and accuracy on the validation rows as they are; the workers share the work."""

        def rows(examples: np.ndarray) -> Rows:
            batch = self._batch([[self.valid[row] for row in examples]], self.valid_labels[examples])
            return self.rows(Batch(*(tensor.to(device) for tensor in batch)), [0])

        lengths = Lengths(self.valid.lengths, np.ones_like(self.valid.lengths))
        loss, accuracy = likelihood(rows, lengths, self.experiment.training.max_tokens, device)
        return Validation(loss, 100 * accuracy, {"accuracy": 100 * accuracy})


def classify(
    run: Run, rows: Sequence[Sequence[str]], *, executor: ExecutorName = "local", name: str = "classify"
) -> list[int]:
    """Return the number of the likeliest label of every row, a sentence or two, by a finished run."""
    execution = run.experiment.execution
    runs = execution.choose(len(rows) / ROWS_PER_SECOND, name, executor)
    chunks = [rows[start : start + CHUNK_ROWS] for start in range(0, len(rows), CHUNK_ROWS)]
    task = _Classify(run, 1 if runs.name == "ray" else execution.threads)
    with Stage(name, len(rows), "rows") as stage:
        parts = runs.map(task, chunks, stage, size=len, **execution.reserved(runs))
    return [label for part in parts for label in part]


def probabilities(run: Run, columns: Sequence[Sequence[str]]) -> np.ndarray:
    """Return the probability of every label, (rows, labels) float32 in the order of the task's labels.

    The model is loaded once per process, and computes on a GPU where the run may and there is one.
    """
    return _loaded(run.folder).probabilities(columns)


@dataclass(frozen=True)
class _Classify:
    """Makes the task that labels rows."""

    run: Run
    threads: int | None

    def __call__(self) -> Callable[[Sequence[Sequence[str]]], list[int]]:
        if self.threads:
            torch.set_num_threads(self.threads)

        def classify(rows: Sequence[Sequence[str]]) -> list[int]:
            columns = [list(column) for column in zip(*rows, strict=True)]
            labels: list[int] = probabilities(self.run, columns).argmax(1).tolist()
            return labels

        return classify


class LoadedClassifier:
    """A finished run's classifier, ready to read."""

    def __init__(self, run: Run, device: torch.device):
        from augury.experiments import trainable

        experiment: ClassifierConfig = run.experiment  # type: ignore[assignment]
        task: ClassifierTask = trainable.find(experiment.task)  # type: ignore[assignment]
        pieces: ClassifierPieces = task.subwords(experiment, run.stored(run.tokenizer))
        self.classes, self.device = task.labels(experiment), device
        self.tokenizer, self.max_length = pieces.tokenizer(), experiment.max_length
        self.max_tokens = experiment.training.max_tokens
        model = load_weights(run.folder, empty(experiment.model, self.classes, learned.directory(pieces.folder)))
        self.reader = Reader(model.to(device), self.tokenizer, experiment.max_length)

    @torch.inference_mode()
    def probabilities(self, columns: Sequence[Sequence[str]]) -> np.ndarray:
        """Return the probability of every label, (rows, labels) float32."""
        rows, _ = encode(self.tokenizer, columns, self.max_length)
        result = np.empty((len(rows), len(self.classes)), np.float32)
        if rows:
            lengths = np.array([len(row) for row in rows])
            plan = plan_pass(Lengths(lengths, lengths), max_tokens=self.max_tokens, seed=0, number=0)
            for batch in (batch for update in plan for batch in update[0]):
                ids = torch.from_numpy(padded([rows[row] for row in batch], self.reader.pad))
                logits = self.reader.logits(ids.to(self.device)).float()
                result[batch] = logits.softmax(1).cpu().numpy()
        return result


@lru_cache(maxsize=1)
def _loaded(folder: Folder) -> LoadedClassifier:
    run = Run.read(folder)
    return LoadedClassifier(run, torch.device(run.experiment.execution.local_device))
