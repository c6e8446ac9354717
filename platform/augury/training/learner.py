"""The contract of a learner: what the loop trains."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import nn

from augury.regimes.regime import Losses, Progress
from augury.training.batching import Lengths


class Loaded(NamedTuple):
    """A batch on its device, with its number of tokens and of positions, padding included."""

    batch: Any
    tokens: int
    positions: int


class Validation(NamedTuple):
    """`loss` per row, `score` (higher is better) and further metrics of the validation set."""

    loss: float
    score: float
    metrics: dict[str, float]


class Learner(Protocol):
    """A model with its training examples and its validation set."""

    module: nn.Module
    lengths: Lengths
    group_rows: list[int]
    """The number of rows of every view group of the regime, the first ones."""
    weights: np.ndarray | None
    """How often an epoch reads every row, (rows,); None: each once."""
    plain_rows: int
    """The number of rows of the corpus, the first ones; the others are records of operators."""

    def onset(self, updates_per_epoch: float) -> float:
        """Return the number of updates after which all of the regime's loss acts."""

    def load(self, examples: np.ndarray, number: int, device: torch.device) -> Loaded:
        """Return the batch of these example numbers in epoch `number`, from 0."""

    def ids(self, examples: np.ndarray) -> list[str]:
        """Return the record ids of these example numbers, for messages."""

    def loss(self, batch: Any, progress: Progress) -> Losses:
        """Return the regime's loss of a batch, at a point of training."""

    def validate(self, device: torch.device) -> Validation:
        """Return loss and score on the validation set, computed by all workers together, equal on
        all."""
