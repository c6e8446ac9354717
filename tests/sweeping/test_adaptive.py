"""The Optuna scheduler, without processes that train."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from optuna.trial import TrialState
from ray import tune

from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.sweeping import space
from augury.sweeping.adaptive import Suggested
from augury.sweeping.space import Space

QUICK = str(Path(__file__).with_name("quick.py"))
SEEDS = (1, 2)


def sweeping(keys: Mapping[str, Any]) -> Space:
    return replace(space.find(QUICK, search="optuna"), keys=keys)


def prepare(point: Mapping[str, Any]) -> str:
    if point.get("regime.beta") == 13:
        raise UserError("13 is invalid")
    return str(dict(point))


def schedule(space: Space, sweep: Folder, samples: int, fixed: Sequence[str] = ()) -> Suggested:
    return Suggested(space, sweep, fixed, SEEDS, samples, prepare)


def requested(scheduler: Suggested) -> list[str]:
    """Return the configurations to train now."""
    return list(dict.fromkeys(trial.configuration for trial in scheduler.work()))


def train(scheduler: Suggested) -> dict[str, float]:
    """Tell a value for every seed of every point to the end.

    Return the means that the study has.
    """
    while not scheduler.finished:
        for configuration in requested(scheduler):
            for seed in SEEDS:
                scheduler.tell(configuration, seed, len(configuration) + seed / 10)
    values = {trial.number: trial.value for trial in scheduler.study.trials}
    return {address: values[number] for number, address in scheduler._points.items()}


@pytest.fixture
def sweep(tmp_path: Path) -> Folder:
    folder = Store(tmp_path).folder("sweeps", "quick")
    folder.write_record("sweep.json", {})
    return folder


BETA = {"regime.beta": tune.loguniform(0.1, 20)}


def test_points_are_suggested_while_there_is_room_and_valued_by_the_mean_over_seeds(sweep):
    scheduler = schedule(sweeping(BETA), sweep, samples=3, fixed=["reference"])
    first = requested(scheduler)
    assert first[0] == "reference" and len(first) == 3
    assert scheduler.work()[:2] == [("reference", 1), ("reference", 2)]
    means = train(scheduler)
    assert len(means) == 3 and scheduler.finished
    assert all(value == pytest.approx(len(name) + 0.15) for name, value in means.items())


def test_the_study_learns_the_value_of_a_repeated_point(sweep):
    scheduler = schedule(sweeping({"regime.beta": [0, 5]}), sweep, samples=5)
    means = train(scheduler)
    assert len(means) == 2 and scheduler.finished
    assert [trial.state for trial in scheduler.study.trials] == [TrialState.COMPLETE] * 5


def test_a_study_is_continued(sweep):
    first = train(schedule(sweeping(BETA), sweep, samples=2))
    more = schedule(sweeping(BETA), sweep, samples=3)
    assert [*more._points.values()] == list(first)  # before any call of work
    means = train(more)
    assert list(means)[:2] == list(first) and len(means) == 3


def test_fewer_samples_leave_points_out(sweep):
    first = train(schedule(sweeping(BETA), sweep, samples=3))
    fewer = schedule(sweeping(BETA), sweep, samples=1)
    assert requested(fewer) == list(first)[:1]
    train(fewer)
    assert len(fewer.study.trials) == 3 and fewer.finished


def test_other_choices_start_another_study(sweep, capsys):
    train(schedule(sweeping({"regime.beta": [0, 5]}), sweep, samples=2))
    assert "starts a new study" not in capsys.readouterr().err
    more = schedule(sweeping({"regime.beta": [0, 5, 2]}), sweep, samples=2)
    assert "search optuna starts a new study" in capsys.readouterr().err
    train(more)
    assert len(more.study.trials) == 2
    schedule(sweeping({"regime.beta": [0, 5]}), sweep, samples=2)
    assert "starts a new study" not in capsys.readouterr().err


def test_choices_that_the_database_cannot_store_are_restored(sweep):
    keys = {"augment.0.keys": [[1], [1, 2]], "regime.beta": [5]}
    scheduler = schedule(sweeping(keys), sweep, samples=4)
    train(scheduler)
    assert {*scheduler._points.values()} <= {
        "{'augment.0.keys': [1], 'regime.beta': 5}",
        "{'augment.0.keys': [1, 2], 'regime.beta': 5}",
    }
    other = schedule(sweeping({**keys, "augment.0.keys": [[2], [1, 2]]}), sweep, samples=1)
    assert other.study.study_name != scheduler.study.study_name  # the indices mean other lists


def test_an_invalid_point_only_fails_its_trial(sweep, capsys):
    scheduler = schedule(sweeping({"regime.beta": [13]}), sweep, samples=1, fixed=["reference"])
    assert requested(scheduler) == ["reference"]
    assert "beta=13 is skipped: 13 is invalid" in capsys.readouterr().err
    assert [trial.state for trial in scheduler.study.trials] == [TrialState.FAIL]


def test_a_failed_seed_drops_its_point(sweep):
    scheduler = schedule(sweeping(BETA), sweep, samples=1)
    (configuration,) = requested(scheduler)
    scheduler.fail(configuration, 1)
    assert scheduler.work() == [] and scheduler.finished
    assert [trial.state for trial in scheduler.study.trials] == [TrialState.FAIL]
