"""Learning rates as functions of the update, and early stopping by patience."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from augury.training.settings import Training


def learning_rate(
    training: Training, update: int, updates_per_epoch: float, worth_of_update: float = 1.0
) -> float:
    """Return the learning rate of an update, from 1.

    The shape is that of Vaswani et al. (2017) with a free peak (fairseq's inverse_sqrt), linear or
    constant.
    """
    peak = training.learning_rate
    warmup = training.warmup_updates
    last = last_update(training, updates_per_epoch, worth_of_update)
    if training.warmup_share is not None:
        warmup = round(training.warmup_share * last)
    if update < warmup:
        return peak * update / warmup
    if training.schedule == "inverse_sqrt":
        return peak * math.sqrt(max(warmup, 1) / update)
    if training.schedule == "linear":
        return peak * max(0, last - update) / max(1, last - warmup)
    return peak


def last_update(training: Training, updates_per_epoch: float, worth_of_update: float = 1.0) -> int:
    """Return the update after which training ends at the latest, but for its time.

    An epoch of the budget is worth `updates_per_epoch` updates, an update of it `worth_of_update`.
    """
    ends = []
    if training.max_epochs is not None:
        ends.append(round(training.max_epochs * updates_per_epoch))
    if training.max_updates is not None:
        ends.append(round(training.max_updates * worth_of_update))
    return max(1, min(ends)) if ends else sys.maxsize


@dataclass
class Patience:
    """Early stopping: counts the validations in a row that are no gain.

    What is compared is the mean of the last `mean_of` scores; a gain is strictly higher than the
    best mean before.
    """

    allowed: int
    mean_of: int = 1
    """The number of validations in a mean; as long as there are fewer, none is counted."""
    best: float = -math.inf
    """The best mean so far."""
    waited: int = 0

    def count(self, scores: Sequence[float]) -> None:
        """Count the last of all `scores` so far."""
        if len(scores) < self.mean_of:
            return
        mean = math.fsum(scores[-self.mean_of :]) / self.mean_of
        self.best, self.waited = (mean, 0) if mean > self.best else (self.best, self.waited + 1)

    @property
    def exhausted(self) -> bool:
        """True where training should stop."""
        return self.waited >= self.allowed
