"""Training under a regime, whatever a task's model reads: examples under the regime's view
groups, and its loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from augury.augment.draw import Symbols
from augury.experiments.preparation import examples_of
from augury.experiments.run import Run
from augury.regimes.regime import Losses, Progress, Rows, ViewGroup
from augury.training.batching import Lengths, padded
from augury.training.learner import Loaded, Validation


class RegimeTraining(ABC):
    """A model, its training examples and its validation set, as the training loop asks for them
    (`training.learner`).

    `symbols` are asked for where an operator draws from token ids. A subclass sets `module` and
    `lengths`.
    """

    module: nn.Module
    lengths: Lengths

    def __init__(self, run: Run, symbols: Callable[[], Symbols]):
        self.experiment: Any = run.experiment
        self.regime = run.experiment.regime
        self.examples = examples_of(run, symbols)
        self.group_rows, self.weights, self.ids = (
            self.examples.group_rows,
            self.examples.weights,
            self.examples.ids,
        )

    def load(self, examples: np.ndarray, number: int, device: torch.device) -> Loaded:
        located = self.examples.locate(examples)
        loaded = self.collate(located, self.examples.views(located, number), number)
        return loaded._replace(batch=moved(loaded.batch, device))

    @abstractmethod
    def collate(
        self,
        located: Sequence[tuple[ViewGroup, int]],
        views: Sequence[Sequence[np.ndarray]],
        number: int,
    ) -> Loaded:
        """Return the batch, on the CPU, of rows under view groups, given their pieces view by
        view in pass `number`."""

    @abstractmethod
    def rows(self, batch: Any, views: Sequence[int]) -> Rows:
        """Return the rows of the chosen views of a batch, read in one concatenated forward pass."""

    def loss(self, batch: Any, progress: Progress) -> Losses:
        return self.regime.loss(self, batch, progress)

    def onset(self, updates_per_pass: float) -> float:
        return self.regime.onset(updates_per_pass)

    @abstractmethod
    def validate(self, device: torch.device) -> Validation: ...


def moved(batch: Any, device: torch.device) -> Any:
    """Return a named tuple of tensors of the CPU on a device."""
    if device.type != "cuda":
        return batch
    return type(batch)(*(tensor.pin_memory().to(device, non_blocking=True) for tensor in batch))


def stacked(views: Sequence[Sequence[Sequence[int] | np.ndarray]], pad: int) -> Tensor:
    """Return rows of ids, view by view, as one tensor (views, rows, length), padded on the
    right."""
    width = max(len(ids) for view in views for ids in view)
    return torch.from_numpy(np.stack([padded(view, pad, width) for view in views]))
