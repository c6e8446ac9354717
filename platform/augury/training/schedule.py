"""Learning rates as functions of the update, and early stopping by patience."""

from __future__ import annotations

import math
from dataclasses import dataclass

from augury.training.settings import Training


def learning_rate(training: Training, update: int, updates_per_pass: int) -> float:
    """Return the rate of update `update`, from 1 (Vaswani et al. 2017 with a free peak; fairseq's inverse_sqrt)."""
    peak, warmup, last = training.learning_rate, training.warmup_updates, last_update(training, updates_per_pass)
    if training.warmup_share is not None:
        warmup = round(training.warmup_share * last)
    if update < warmup:
        return peak * update / warmup
    if training.schedule == "inverse_sqrt":
        return peak * math.sqrt(max(warmup, 1) / update)
    if training.schedule == "linear":
        return peak * max(0, last - update) / max(1, last - warmup)
    return peak


def last_update(training: Training, updates_per_pass: int) -> int:
    """Return the update after which training ends at the latest."""
    passes = [] if training.max_passes is None else [training.max_passes * updates_per_pass]
    updates = [] if training.max_updates is None else [training.max_updates]
    return min(passes + updates)


@dataclass
class Patience:
    """Counts validations that are not strictly better than the best so far; higher is better."""

    allowed: int
    best: float = -math.inf
    waited: int = 0

    def improved(self, score: float) -> bool:
        """Count a validation's score; return whether it is the best so far."""
        better = score > self.best
        self.best, self.waited = (score, 0) if better else (self.best, self.waited + 1)
        return better

    @property
    def exhausted(self) -> bool:
        """True where training should stop."""
        return self.waited >= self.allowed
