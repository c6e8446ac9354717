"""What a sweep tells its scheduler of a trial."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Literal, cast

import pytest

from augury.core.store import Store
from augury.experiments.recording import unrecorded
from augury.sweeping import plan
from augury.sweeping.applied import apply
from augury.sweeping.declarations import SearchSpace
from augury.sweeping.plan import SweepOptions
from augury.sweeping.schedulers import Trial
from augury.sweeping.space import points, resolve
from augury.sweeping.sweep import _Driver
from augury.sweeping.trials import Trials
from augury.training.history import History
from tests import tiny


def driver(folder: Path, mode: Literal["max", "min"]) -> _Driver:
    """Return the driver of a sweep of two configurations."""
    declared = SearchSpace(
        question="Which rate?",
        base={"name": "rates", "task": "nmt"},
        keys={"training.learning_rate": [1e-3, 2e-3]},
        metric="valid/bleu",
        mode="max",
        seeds=(1, 2),
    )
    experiment = tiny.experiment("nmt", folder, training={"max_updates": 4})
    space = replace(apply(resolve(declared, "rates"), experiment).space, mode=mode)
    store = Store(folder)
    options = SweepOptions(str(folder), "rates", (1, 2), "all", "grid", confirm=2)
    made = _Driver(space, options, unrecorded, lambda *_: None, store, store.folder("sweeps", "x"))
    made.plan = plan.make(space, store, {}, points(space))
    made._add_to_graph()
    return made


@pytest.mark.parametrize(("mode", "value"), [("max", 4.0), ("min", 1.0)])
def test_a_trial_is_compared_by_its_best_validation(
    tmp_path: Path, mode: Literal["max", "min"], value: float
) -> None:
    """Of those that are finite."""
    sweep = driver(tmp_path, mode)
    trial = Trial([*sweep.plan.configurations][-1], 1)
    assert sweep._value(trial) is None
    history = History(sweep.plan.graph.plans[trial.configuration].run(1))
    for update, score in enumerate((1.0, math.nan, 4.0, math.inf), start=1):
        history.add(update, 0, {"valid/bleu": score})
    history.flush()
    assert sweep._value(trial) == value


def test_the_end_of_a_budget_is_kept_for_confirmation(tmp_path: Path) -> None:
    """As much as two seeds of the reference, 10 s each, and of what leads, 20 s, take in two slots,
    with the 20 s that the last may begin late by half; but no more than half of the budget."""
    sweep = driver(tmp_path, "max")
    reference, other = sweep.plan.configurations
    choosing = [Trial(reference, 1), Trial(other, 1)]
    assert sweep.options.fresh_seeds == (3, 4)
    scheduler = sweep._scheduler()
    sweep.trials = cast(Trials, SimpleNamespace(scheduler=scheduler))
    assert sweep._deadline_of(choosing[1]) is None
    sweep.deadline = 1000.0
    assert sweep._deadline_of(choosing[1]) == 1000.0  # nothing is known that could be confirmed
    for trial in choosing:
        scheduler.tell(*trial, 1.0)
    progress = dict.fromkeys(choosing, "finished")
    seconds = dict(zip(choosing, (10.0, 20.0), strict=True))
    trials = SimpleNamespace(at_once=2, progress=progress, scheduler=scheduler, seconds=seconds)
    sweep.trials = cast(Trials, trials)
    for budget, kept in ((100.0, 40.0), (60.0, 30.0)):
        sweep.options = replace(sweep.options, budget=budget)
        assert sweep._deadline_of(choosing[1]) == 1000.0 - kept
        assert sweep._deadline_of(Trial(other, 3)) == 1000.0
