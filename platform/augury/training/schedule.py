"""The optimizer, its learning rate, and when training ends: by budgets, in updates, or by patience;
and how long its intervals are before any text is read.

Imports no torch, as costs are estimated from it before anything is trained.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from augury.training.batching import Batch, plan_epoch
from augury.training.settings import Training

if TYPE_CHECKING:
    import torch
    from torch import nn

    from augury.training.learner import Learner

Plan = list[list[list[Batch]]]
"""Updates, each a list of batches for every rank."""


def adam(parameters: Sequence[nn.Parameter], training: Training) -> torch.optim.Optimizer:
    """Return Adam over parameters, with the weight decay of the settings."""
    import torch

    kind = torch.optim.AdamW if training.weight_decay else torch.optim.Adam
    groups = [{"params": list(parameters), "weight_decay": training.weight_decay}]
    if training.weight_decay and training.decayed == "matrices":
        matrices = [parameter for parameter in parameters if parameter.ndim > 1]
        vectors = [parameter for parameter in parameters if parameter.ndim <= 1]
        groups = [
            {"params": matrices, "weight_decay": training.weight_decay},
            {"params": vectors, "weight_decay": 0.0},
        ]
    return kind(
        [group for group in groups if group["params"]],
        lr=training.learning_rate,
        betas=training.adam_betas,
        eps=training.adam_eps,
        fused=True,
    )


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


class Worth(NamedTuple):
    """What an epoch and an update of a budget are worth, in updates of a training."""

    epoch: float
    update: float = 1.0


def planned(
    learner: Learner,
    training: Training,
    seed: int,
    number: int,
    world: int,
    weights: np.ndarray | None = None,
) -> Plan:
    """Return the updates of epoch `number`; `weights` in place of the learner's."""
    return plan_epoch(
        learner.lengths,
        max_tokens=training.max_tokens,
        max_examples=training.max_examples,
        order=training.order,
        seed=seed,
        number=number,
        groups=learner.group_rows,
        weights=learner.weights if weights is None else weights,
        world=world,
        accumulation=training.accumulation,
    )


def worth(learner: Learner, training: Training, seed: int, world: int) -> Worth:
    """Return what a budget of plain text is worth in a training that reads records too.

    Epochs and updates of the budget are those of the first `learner.plain_rows` rows alone; as much
    as an epoch of them holds is counted in the training's first epoch.
    """
    rows = len(learner.lengths.cost)
    weights = np.ones(rows) if learner.weights is None else learner.weights
    plain_only = np.where(np.arange(rows) < learner.plain_rows, weights, 0.0)
    plain = planned(learner, training, seed, 0, world, plain_only)
    if training.equal == "updates":
        return Worth(len(plain))
    every = planned(learner, training, seed, 0, world)
    updates_per_token = len(every) / _tokens(learner, every)
    plain_tokens = _tokens(learner, plain)
    return Worth(plain_tokens * updates_per_token, plain_tokens / len(plain) * updates_per_token)


def _tokens(learner: Learner, plan: Plan) -> int:
    """Return the target tokens of a plan."""
    targets = learner.lengths.targets
    examples = np.concatenate([batch for update in plan for rank in update for batch in rank])
    return int(targets[examples % len(targets)].sum())


class TextSize(NamedTuple):
    """About how much a training text is."""

    rows: int
    tokens: float
    """Subwords of the longer side of a row, on average."""


class Pace(NamedTuple):
    """Numbers of updates; all are estimates but those that settings state."""

    batch: str
    """What an update reads at most."""
    updates_per_pass: int | None
    validate_every: int | None
    patience: int | None


def pace(training: Training, text: TextSize | None) -> Pace:
    """Return the pace of a training; what depends on an unknown text is None."""
    batches = training.workers * training.accumulation
    batch = f"{batches * training.max_tokens:,} tokens"
    if training.max_examples is not None:
        batch += f" or {batches * training.max_examples:,} examples"
    updates = None
    if text is not None:
        of_batch = min(training.max_tokens / text.tokens, training.max_examples or math.inf)
        updates = math.ceil(text.rows / (batches * of_batch))
    every = training.validate_every or (updates and training.validate_every_epochs * updates)
    return Pace(batch, updates, every, every and every * training.patience)


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
