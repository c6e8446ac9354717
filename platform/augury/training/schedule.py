"""The optimizer, its learning rate, and when training ends: by budgets, in updates, or by patience;
and how long its intervals are before any text is read.

Imports no torch, as costs are estimated from it before anything is trained.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from augury.training.settings import Training

if TYPE_CHECKING:
    import torch
    from torch import nn


def adam(parameters: Sequence[nn.Parameter], training: Training) -> torch.optim.Optimizer:
    """Return Adam over parameters, with the weight decay of the settings."""
    import torch

    kind = torch.optim.AdamW if training.weight_decay else torch.optim.Adam
    everywhere = training.decayed == "all" or not training.weight_decay
    decayed = [parameter for parameter in parameters if everywhere or parameter.ndim > 1]
    others = [parameter for parameter in parameters if not everywhere and parameter.ndim <= 1]
    groups = [(decayed, training.weight_decay), (others, 0.0)]
    return kind(
        [{"params": group, "weight_decay": decay} for group, decay in groups if group],
        lr=training.learning_rate,
        betas=training.adam_betas,
        eps=training.adam_eps,
        fused=True,
    )


def learning_rate(training: Training, update: int, updates_per_epoch: float) -> float:
    """Return the learning rate of an update, from 1.

    The shape is that of Vaswani et al. (2017) with a free peak (fairseq's inverse_sqrt), linear or
    constant.
    """
    peak = training.learning_rate
    warmup = training.warmup_updates
    last = last_update(training, updates_per_epoch)
    if training.warmup_share is not None:
        warmup = round(training.warmup_share * last)
    if update < warmup:
        return peak * update / warmup
    if training.schedule == "inverse_sqrt":
        return peak * math.sqrt(max(warmup, 1) / update)
    if training.schedule == "linear":
        return peak * max(0, last - update) / max(1, last - warmup)
    return peak


def last_update(training: Training, updates_per_epoch: float) -> int:
    """Return the update after which training ends at the latest."""
    ends = []
    if training.max_epochs is not None:
        ends.append(round(training.max_epochs * updates_per_epoch))
    if training.max_updates is not None:
        ends.append(training.max_updates)
    return max(1, min(ends))


def pace(training: Training, rows: int | None, tokens: float) -> dict[str, str | int | None]:
    """Return what an update reads at most, `batch`, and numbers of updates, most of them estimates:
    those of a pass, between validations, of patience, and that the average of the last checkpoints
    spans.

    The text has about so many rows, and `tokens` subwords on the longer side of a row; where its
    rows are None, so is what depends on it.
    """
    batches = training.workers * training.accumulation
    batch = f"{batches * training.max_tokens:,} tokens"
    if training.max_examples is not None:
        batch += f" or {batches * training.max_examples:,} examples"
    updates = None
    if rows is not None:
        of_batch = min(training.max_tokens / tokens, training.max_examples or math.inf)
        updates = math.ceil(rows / (batches * of_batch))
    every = training.validate_every or (updates and training.validate_every_epochs * updates)
    averaged = training.average_last if training.weights == "averaged" else None
    return {
        "batch": batch,
        "updates_per_epoch": updates,
        "validate_every": every,
        "patience": every and every * training.patience,
        "averaged": every and averaged and every * averaged,
    }


@dataclass
class Patience:
    """Early stopping: counts the validations in a row that are not strictly better."""

    allowed: int
    best: float = -math.inf
    """The best score so far."""
    waited: int = 0

    def count(self, score: float) -> None:
        """Count a validation by its score."""
        self.best, self.waited = (score, 0) if score > self.best else (self.best, self.waited + 1)

    @property
    def exhausted(self) -> bool:
        """True where training should stop."""
        return self.waited >= self.allowed
