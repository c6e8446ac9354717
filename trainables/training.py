"""The learner of a task under a regime: its examples as view groups, and the regime's loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedTokenizerBase

from augury.augment.draw import Symbols
from augury.core.errors import UserError
from augury.experiments.make import examples_of
from augury.experiments.run import Run
from augury.regimes.regime import Losses, Progress, Rows, ViewGroup
from augury.training.batching import Lengths, padded
from augury.training.learner import Loaded, Validation

Located = Sequence[tuple[ViewGroup, int]]
"""The view group and the row of every example."""
Views = Sequence[Sequence[np.ndarray]]
"""The ids of every example, view by view."""


class RegimeTraining(ABC):
    """A `training.learner.Learner` whose loss is a regime's, over the views of its examples.

    A subclass sets `module` and `lengths`.
    """

    module: nn.Module
    lengths: Lengths

    def __init__(self, run: Run):
        self.run, self.experiment = run, cast(Any, run.experiment)
        self.regime = run.experiment.regime
        self.examples = examples_of(run, self.symbols)
        self.group_rows = self.examples.group_rows
        self.weights = self.examples.weights
        self.ids = self.examples.ids

    @abstractmethod
    def symbols(self) -> Symbols:
        """Return the symbols of the tokenizer, for operators that draw from token ids."""

    def load(self, examples: np.ndarray, epoch: int, device: torch.device) -> Loaded:
        located = self.examples.locate(examples)
        loaded = self.collate(located, self.examples.views(located, epoch), epoch)
        return loaded._replace(batch=to_device(loaded.batch, device))

    @abstractmethod
    def collate(self, located: Located, views: Views, epoch: int) -> Loaded:
        """Return the batch, on the CPU, of located examples in an `epoch`."""

    @abstractmethod
    def rows(self, batch: Any, views: Sequence[int]) -> Rows:
        """Return the rows of some views of a batch, computed in one forward pass."""

    def loss(self, batch: Any, progress: Progress) -> Losses:
        return self.regime.loss(self, batch, progress)

    def onset(self, updates_per_epoch: float) -> float:
        return self.regime.onset(updates_per_epoch)

    @abstractmethod
    def validate(self, device: torch.device) -> Validation: ...


def to_device(batch: Any, device: torch.device) -> Any:
    """Copy a named tuple of CPU tensors to a device."""
    if device.type != "cuda":
        return batch
    # From pinned memory the copy runs while the device computes.
    return type(batch)(*(tensor.pin_memory().to(device, non_blocking=True) for tensor in batch))


def pad_views(views: Sequence[Sequence[Sequence[int] | np.ndarray]], pad: int) -> Tensor:
    """Return the ids of all views as one tensor (views, rows, length), padded on the right."""
    width = max(len(ids) for view in views for ids in view)
    return torch.from_numpy(np.stack([padded(view, pad, width) for view in views]))


def symbols_of(tokenizer: PreTrainedTokenizerBase) -> Symbols:
    """Return the symbols that draws need; UserError for a tokenizer without unknown symbol."""
    if tokenizer.unk_token_id is None:
        raise UserError(
            "draws replace tokens by the unknown symbol, and the model's tokenizer has none"
        )
    return Symbols(
        tokenizer.unk_token_id, np.setdiff1d(np.arange(len(tokenizer)), tokenizer.all_special_ids)
    )
