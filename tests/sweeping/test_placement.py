"""The placement of trials, and errors for trials that cannot be placed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import ray
from augury.sweeping.executors import place

from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments.spec import Experiment, parse
from augury.sweeping import plan, space
from augury.sweeping.plan import SweepOptions

QUICK = str(Path(__file__).with_name("quick.py"))


def quick(**sections) -> Experiment:
    spec = importlib.util.spec_from_file_location("quick", QUICK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    merged = {
        name: {**module.BASE.get(name, {}), **settings} for name, settings in sections.items()
    }
    return parse({**module.BASE, **merged})


@pytest.mark.usefixtures("local_ray")
def test_a_small_trial_trains_in_its_own_actor():
    placement, resources, standby = place([quick()])
    cores = int(ray.cluster_resources()["CPU"])
    assert (placement.launcher, placement.device, placement.threads) == ("direct", "cpu", 1)
    assert (placement.at_once, resources, standby) == (cores, {"CPU": 1}, cores)


@pytest.mark.usefixtures("local_ray")
def test_the_driver_of_workers_requests_no_cpu():
    workers = quick(training={"workers": 2}, execution={"cpus_per_worker": 0.5})
    placement, resources, _ = place([workers])
    assert (placement.launcher, resources) == ("ray", {"memory": 100 * 2**20})
    assert placement.at_once == int(ray.cluster_resources()["CPU"])


@pytest.mark.usefixtures("local_ray")
def test_the_file_can_say_how_many_trials_run_at_once():
    one = place([quick(execution={"at_once": 1})])
    assert (one.placement.at_once, one.standby) == (1, 0)
    many = place([quick(execution={"at_once": 99, "launcher": "ray"})])
    assert many.placement.at_once <= int(ray.cluster_resources()["CPU"])


@pytest.mark.usefixtures("local_ray")
@pytest.mark.parametrize(
    ("sections", "at_once", "message"),
    [
        ({}, 99, "--at-once 99: only"),
        ({"training": {"workers": 99}}, None, "not a single trial fits:\n  CPU: a trial needs 99"),
        ({"execution": {"device": "cuda"}}, None, "GPU: a trial needs 1, the cluster has 0"),
    ],
)
def test_trials_that_do_not_fit_are_rejected(sections, at_once, message):
    with pytest.raises(UserError) as error:
        place([quick(**sections)], at_once)
    assert message in str(error.value)


def test_halving_needs_the_number_of_validations(tmp_path):
    quick_space = space.find(QUICK)
    planned = plan.make(
        quick_space, Store(tmp_path), {"training.max_epochs": 3}, space.sample(quick_space)
    )
    options = SweepOptions(str(tmp_path), "quick", (1,), "race", "grid")
    with pytest.raises(UserError, match="halving decides at validations"):
        plan.decision_rungs(options, planned)
