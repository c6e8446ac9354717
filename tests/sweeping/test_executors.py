"""Where the trials of a sweep run, and what needs Ray."""

from __future__ import annotations

import pytest

from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments.spec import Experiment
from augury.sweeping.executors import GPUS, choose
from augury.sweeping.local_executor import LocalExecutor
from tests.sweeping.test_placement import quick


@pytest.fixture(autouse=True)
def no_gpu_and_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("augury.sweeping.executors.GPUS", ())
    monkeypatch.delenv("RAY_ADDRESS", raising=False)


def with_executor(name: str, experiment: Experiment) -> list[Experiment]:
    execution = experiment.execution.model_copy(update={"executor": name})
    return [experiment.model_copy(update={"execution": execution}), experiment]


def test_what_fits_this_machine_runs_in_its_processes() -> None:
    assert choose([quick()], "race") == "local"
    assert choose(with_executor("local", quick()), "all") == "local"
    assert choose(with_executor("ray", quick()), "all") == "ray"


@pytest.mark.parametrize(
    ("sections", "scheduler"),
    [
        ({"training": {"workers": 2}}, "all"),
        ({"execution": {"address": "10.0.0.1:6379"}}, "all"),
        ({"execution": {"launcher": "ray"}}, "all"),
        ({"execution": {"device": "cuda"}}, "all"),
        ({}, "pbt"),
    ],
)
def test_what_needs_ray_runs_on_it_and_nowhere_else(sections, scheduler) -> None:
    assert choose([quick(**sections)], scheduler) == "ray"
    with pytest.raises(UserError, match="--executor ray"):
        choose(with_executor("local", quick(**sections)), scheduler)


def test_a_gpu_and_the_address_of_the_environment_need_ray(monkeypatch) -> None:
    assert GPUS
    monkeypatch.setattr("augury.sweeping.executors.GPUS", ("null",))  # a device of every machine
    assert choose([quick()], "all") == "ray"
    assert choose([quick(execution={"device": "cpu"})], "all") == "local"
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    assert choose([quick(execution={"device": "cpu"})], "all") == "ray"


@pytest.mark.parametrize(
    ("cpus", "at_once", "message"),
    [(1, 10_000, "--at-once 10000"), (10_000, None, "execution.cpus_per_worker")],
)
def test_more_trials_than_fit_are_refused(tmp_path, cpus, at_once, message) -> None:
    experiments = [quick(execution={"cpus_per_worker": cpus})]
    with pytest.raises(UserError, match=message):
        LocalExecutor(experiments, at_once, Store(tmp_path).folder("sweeps", "quick"))
