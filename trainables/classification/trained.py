"""A finished classifier: the labels of rows, and their probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch

from augury.core.execution import ExecutorName
from augury.core.store import Folder
from augury.experiments.run import Run
from augury.text.subwords.tokenizer import Subwords, encode
from augury.training.batching import Lengths, batches_by_length, padded
from augury.training.trained import load_weights
from trainables.classification.config import ClassifierConfig
from trainables.classification.model import Reader, empty

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
