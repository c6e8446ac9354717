"""The end of training in updates, where budgets count the updates or the tokens of plain text."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from augury.training.batching import Batch, plan_epoch
from augury.training.learner import Learner
from augury.training.settings import Training

Plan = list[list[list[Batch]]]


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
