"""What a sweep tells its scheduler of a trial, and when a budget ends one."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from augury.core.store import Store
from augury.experiments.recording import unrecorded
from augury.experiments.spec import Direction
from augury.sweeping import plan
from augury.sweeping import space as spaces
from augury.sweeping.driver import run_experiment
from augury.sweeping.plan import SweepOptions
from augury.sweeping.schedulers import Trial
from augury.sweeping.sweep import _Command
from augury.training.history import History
from tests import tiny
from tests.sweeping.sweeps import QUICK


@pytest.mark.parametrize(("mode", "value"), [("max", 4.0), ("min", 1.0)])
def test_a_trial_is_compared_by_its_best_validation(
    tmp_path: Path, mode: Direction, value: float
) -> None:
    """Of those that are finite."""
    space, store = replace(spaces.find(QUICK), mode=mode), Store(tmp_path)
    options = SweepOptions(str(tmp_path), "quick", (1, 2))
    sweep = _Command(
        space, options, unrecorded, lambda *_: None, store, store.folder("sweeps", "x")
    )
    sweep.plan = plan.make(space, store, options.assignments)
    sweep._add_to_graph()
    trial = Trial([*sweep.plan.configurations][-1], 1)
    assert sweep._value(trial) is None
    history = History(sweep.plan.graph.plans[trial.configuration].run(1))
    for update, score in enumerate((1.0, math.nan, 4.0, math.inf), start=1):
        history.add(update, 0, {"valid/loss": score})
    history.flush()
    assert sweep._value(trial) == value


@pytest.mark.trains
def test_a_spent_budget_ends_a_training_at_its_next_validation(tmp_path: Path) -> None:
    """The same call without one continues it."""
    training = {"max_updates": 4, "validate_every": 2}
    experiment = tiny.experiment("nmt", tmp_path, training=training, seeds=[1])
    trained = run_experiment(experiment, budget=0.0)
    assert (trained.runs, trained.missing) == ({}, 1)
    trained = run_experiment(experiment)
    (runs,) = trained.runs.values()
    assert (trained.missing, [*runs]) == (0, [1])
