"""What an Optuna study suggests, admits and is told, without the processes that train."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import wait
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from optuna.trial import TrialState
from ray import tune

from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.sweeping import space
from augury.sweeping.adaptive import Suggestions
from augury.sweeping.space import Space

QUICK = str(Path(__file__).with_name("quick.py"))
SEEDS = (1, 2)


def sweeping(keys: Mapping[str, Any]) -> Space:
    return replace(space.find(QUICK, search="optuna"), keys=keys)


def called(point: Mapping[str, Any]) -> str:
    if point.get("regime.beta") == 13:
        raise UserError("13 brings bad luck")
    return str(dict(point))


def suggested(space: Space, sweep: Folder, samples: int, at_once: int = 4, fixed: Sequence[str] = ()) -> Suggestions:
    return Suggestions(space, sweep, fixed, SEEDS, samples, at_once, called)


def requested(suggestions: Suggestions) -> list[str]:
    """The configurations that are to be trained, once all that was asked for is prepared."""
    suggestions.work()
    wait(suggestions._open.values())
    return list(dict.fromkeys(work.configuration for work in suggestions.work()))


def train(suggestions: Suggestions) -> dict[str, float]:
    """Tell a value for every seed of every point until all are known; the means that the study has."""
    while not suggestions.over:
        for configuration in requested(suggestions):
            for seed in SEEDS:
                suggestions.tell(configuration, seed, 0, len(configuration) + seed / 10)
    values = {trial.number: trial.value for trial in suggestions.study.trials}
    return {future.result(): values[number] for number, future in suggestions._open.items()}


@pytest.fixture
def sweep(tmp_path: Path) -> Folder:
    folder = Store(tmp_path).folder("sweeps", "quick")
    folder.write_json("sweep.json", {})
    return folder


BETA = {"regime.beta": tune.loguniform(0.1, 20)}


def test_points_are_asked_for_while_there_is_room_and_judged_by_the_mean_over_seeds(sweep):
    suggestions = suggested(sweeping(BETA), sweep, samples=3, fixed=["reference"])
    first = requested(suggestions)
    assert first[0] == "reference" and len(first) == 3  # two points × two seeds fill the four places
    assert [(work.configuration, work.seed) for work in suggestions.work()][:2] == [("reference", 1), ("reference", 2)]
    means = train(suggestions)
    assert len(means) == 3 and suggestions.over
    assert all(value == pytest.approx(len(name) + 0.15) for name, value in means.items())


def test_a_study_goes_on_where_it_stood(sweep):
    first = train(suggested(sweeping(BETA), sweep, samples=2))
    more = suggested(sweeping(BETA), sweep, samples=3)
    assert [future.result() for future in more._open.values()] == list(first)  # before any work is asked for
    means = train(more)
    assert list(means)[:2] == list(first) and len(means) == 3


def test_fewer_samples_narrow(sweep):
    first = train(suggested(sweeping(BETA), sweep, samples=3))
    fewer = suggested(sweeping(BETA), sweep, samples=1)
    assert requested(fewer) == list(first)[:1]
    train(fewer)
    assert len(fewer.study.trials) == 3 and fewer.over


def test_other_choices_begin_another_study(sweep, capsys):
    train(suggested(sweeping({"regime.beta": [0, 5]}), sweep, samples=2))
    assert "begins anew" not in capsys.readouterr().err
    more = suggested(sweeping({"regime.beta": [0, 5, 2]}), sweep, samples=2)
    assert "search optuna begins anew" in capsys.readouterr().err
    train(more)
    assert len(more.study.trials) == 2
    suggested(sweeping({"regime.beta": [0, 5]}), sweep, samples=2)
    assert "begins anew" not in capsys.readouterr().err


def test_choices_that_a_database_cannot_hold_come_back_as_they_are(sweep):
    keys = {"augment.0.keys": [[1], [1, 2]], "regime.beta": [5]}
    suggestions = suggested(sweeping(keys), sweep, samples=4)
    train(suggestions)
    assert {future.result() for future in suggestions._open.values()} <= {
        "{'augment.0.keys': [1], 'regime.beta': 5}",
        "{'augment.0.keys': [1, 2], 'regime.beta': 5}",
    }
    other = suggested(sweeping({**keys, "augment.0.keys": [[2], [1, 2]]}), sweep, samples=1)
    assert other.study.study_name != suggestions.study.study_name  # the positions mean other lists


def test_a_point_that_cannot_be_tried_fails_alone(sweep, capsys):
    suggestions = suggested(sweeping({"regime.beta": [13]}), sweep, samples=1, fixed=["reference"])
    assert requested(suggestions) == ["reference"]
    assert "beta=13 cannot be tried: 13 brings bad luck" in capsys.readouterr().err
    assert [trial.state for trial in suggestions.study.trials] == [TrialState.FAIL]


def test_a_seed_that_fails_ends_its_point(sweep):
    suggestions = suggested(sweeping(BETA), sweep, samples=1)
    (configuration,) = requested(suggestions)
    suggestions.fail(configuration, 1)
    assert suggestions.work() == [] and suggestions.over
    assert [trial.state for trial in suggestions.study.trials] == [TrialState.FAIL]
