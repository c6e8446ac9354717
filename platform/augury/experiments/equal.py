"""The budgets of systems, derived from that of the baseline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from augury.core import config
from augury.core.errors import UserError
from augury.experiments.spec import Experiment, parse

BATCHES = ("max_tokens", "max_examples", "order", "accumulation", "workers")
"""The settings of training that an epoch's updates depend on."""


def with_equal_budgets(systems: Mapping[str, Experiment]) -> dict[str, Experiment]:
    """Return the systems, the baseline first, with budgets that are equal in the unit that the
    experiment says; UserError where the baseline has none in it."""
    baseline = next(iter(systems.values()))
    return {name: with_budget_of(baseline, system, name) for name, system in systems.items()}


def with_budget_of(baseline: Experiment, system: Experiment, name: str) -> Experiment:
    """Return a system with the budget of the baseline in the unit that it says (`equal`)."""
    unit, training = system.equal, baseline.training
    if unit == "epochs" or (system is baseline and unit != "time"):
        return system
    if system.stage is not None:
        raise UserError(
            f"equal: {unit} is for systems of one stage, and {name} has several, each with its own "
            "budget: leave it out"
        )
    if unit == "time":
        if training.max_minutes is None:
            raise UserError(
                "equal: time takes the minutes of training from the baseline, which has none: set "
                "training.max_minutes"
            )
        limits: dict[str, Any] = {"max_epochs": None, "max_updates": None}
    else:
        limits = {"max_epochs": training.max_epochs, "max_updates": training.max_updates}
        if training.max_epochs is not None or unit == "tokens":
            _check_countable(baseline, system, name)
            limits["equal"] = unit
    limits["max_minutes"] = training.max_minutes
    content = system.model_dump(mode="json", exclude_unset=True)
    dotted = {f"training.{key}": value for key, value in limits.items()}
    return parse(config.merge(content, dotted), f"system {name}")


def _check_countable(baseline: Experiment, system: Experiment, name: str) -> None:
    """Raise UserError where the budget of the baseline cannot be counted on a system's plain
    text."""
    unit, problem = system.equal, ""
    its, own = (
        {key: value for key, value in part.corpus.to_dict().items() if key != "tests"}
        for part in (baseline, system)
    )
    batches = [name for name in BATCHES if _of(baseline, name) != _of(system, name)]
    if baseline.record_origins:
        problem = f"the baseline has records of {', '.join(baseline.record_origins)}"
    elif its != own:
        problem = f"the text of {name} is another than that of the baseline"
    elif batches and (unit == "updates" or system.training.max_updates is not None):
        problem = f"training.{batches[0]} of {name} is another than that of the baseline"
    if problem:
        raise UserError(
            f"equal: {unit} counts the baseline's budget on plain text, and {problem}: use equal: "
            "updates with training.max_updates, or equal: time with training.max_minutes"
        )


def _of(experiment: Experiment, name: str) -> Any:
    return getattr(experiment.training, name)
