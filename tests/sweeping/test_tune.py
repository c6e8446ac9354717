"""The placement of trials, when Tune ends, and errors for trials that cannot be placed or run out
of memory."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ray.exceptions import OutOfMemoryError
from ray.tune.search import Searcher

from augury.core.errors import UserError
from augury.experiments.spec import Experiment
from augury.sweeping.tune import DRIVER_MEMORY, TrialSearch, _quiet, place
from tests import tiny


def experiment(workers: int = 1, **execution: Any) -> Experiment:
    return tiny.experiment(
        "nmt",
        Path("store"),
        training={"max_tokens": 400, "max_epochs": 2, "workers": workers},
        execution=execution,
    )


@pytest.fixture
def cores(local_ray: Any) -> int:
    return int(local_ray.cluster_resources()["CPU"])


@pytest.mark.slow
def test_a_small_trial_trains_in_its_own_actor_and_the_driver_of_workers_requests_no_cpu(
    cores: int,
) -> None:
    placement = place([experiment()])
    assert placement.execution == {"executor": "local", "device": "cpu", "threads": 1}
    assert (placement.at_once, placement.resources) == (cores, {"CPU": 1})
    placement = place([experiment(workers=2)])
    assert (placement.execution["executor"], placement.at_once) == ("ray", cores // 2)
    assert placement.resources == {"memory": DRIVER_MEMORY}


@pytest.mark.slow
@pytest.mark.usefixtures("local_ray")
@pytest.mark.parametrize(
    ("settings", "at_once", "message"),
    [
        ({}, 99, "--at-once 99: only"),
        ({"workers": 99}, None, "not a single trial fits: each needs 99 CPU"),
        ({"device": "cuda"}, None, "each needs 1 CPU, 1 GPU, and the cluster has"),
    ],
)
def test_trials_that_do_not_fit_are_rejected(
    settings: dict[str, Any], at_once: int | None, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        place([experiment(**settings)], at_once)


@pytest.mark.parametrize(("running", "answer"), [(0, Searcher.FINISHED), (1, None)])
def test_tune_ends_where_trials_wait_for_texts_alone(running: int, answer: str | None) -> None:
    """Its idle actors would keep the CPUs that making them takes."""
    trials: Any = SimpleNamespace(
        next=lambda: None,
        running=running,
        waits_for_texts=True,
        scheduler=SimpleNamespace(finished=False),
    )
    search = TrialSearch(trials, {})
    assert search.suggest("1") == answer and search.waits_for_texts == (not running)


def test_memory_that_runs_out_is_an_error_of_the_user(tmp_path: Path) -> None:
    """Tune raises a RuntimeError of Ray's error, as it does for no other death of a process."""
    with pytest.raises(UserError, match="--at-once 1"), _quiet(tmp_path / "ray.log"):
        raise RuntimeError("caught") from OutOfMemoryError("22.32GB used / 23.54GB limit")
    with pytest.raises(RuntimeError, match="another"), _quiet(tmp_path / "ray.log"):
        raise RuntimeError("another")
