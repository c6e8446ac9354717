"""Which operators, regimes and schedules go together; UserError for what does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from augury.core.errors import UserError
from augury.regimes.regime import SOURCE, Regime, ViewGroup
from augury.training.settings import Training
from augury.training.trained import Carry

if TYPE_CHECKING:
    from augury.augment.draw import TokenDraw


def check_names(names: Sequence[str]) -> None:
    """Check that operators make nothing twice."""
    if len(set(names)) < len(names):
        raise UserError(
            f"augment makes several things of one name: {', '.join(names)}; make each once"
        )


def check_draws(draws: Sequence[TokenDraw], task: str, *, resegments: bool) -> None:
    """Check that draws of tokens differ, and that the task's subwords can be drawn anew."""
    for draw in draws:
        if draws.count(draw) > 1:
            raise UserError(
                f"augment has operator {draw.operator} twice with the same settings: change "
                "its seed"
            )
        if draw.RESEGMENTS and not resegments:
            raise UserError(
                f"operator {draw.operator} segments anew, and task {task} reads subwords of its "
                "model's own: take word_drop or switch_out"
            )


def check_views(regime: Regime, groups: Sequence[ViewGroup], views: Sequence[str]) -> None:
    """Check that the regime reads every view."""
    read = {view for group in groups for view in group.views}
    unread = [view for view in views if view not in read]
    if unread:
        raise UserError(
            f"regime {regime.name} does not read the view {unread[0]}: leave its operator out of "
            "augment, take a regime that reads it (multi_source, adversarial, or coregularised "
            "with over=ciphers), or make records of it where the operator can (use: records)"
        )


def check_records(regime: Regime, groups: Sequence[ViewGroup], origins: Sequence[str]) -> None:
    """Check that no regime reads views of records, which have none."""
    together = [
        view for group in groups if len(group.views) > 1 for view in group.views if view != SOURCE
    ]
    if together and origins:
        raise UserError(
            f"regime {regime.name} reads the view {together[0]} with every source, and the records "
            f"of {', '.join(origins)} have none: take an operator's copies as views (use: view, of "
            "eda and reorder) or leave it out, or take a regime that reads one view at a time"
        )


def check_schedule(carry: Carry, training: Training) -> None:
    """Check that a stage that carries the optimizer has a schedule that goes on."""
    ends = training.schedule == "linear" or training.warmup_share is not None
    if carry == "optimizer" and ends:
        raise UserError(
            "with carry: optimizer the schedule goes on from the step of the stage before, and a "
            "linear one or one with warmup_share has ended with it: take schedule inverse_sqrt or "
            "constant, or carry: weights"
        )
