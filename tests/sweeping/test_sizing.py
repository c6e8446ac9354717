"""What cannot be placed is said before anything runs."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import ray

from augury.core.errors import UserError
from augury.core.execution import connect
from augury.core.store import Store
from augury.experiments.experiment import Experiment, parse
from augury.sweeping import driver, plan, points, sizing, space
from augury.sweeping.settings import SweepOptions

QUICK = str(Path(__file__).with_name("quick.py"))


@pytest.fixture(scope="module", autouse=True)
def machine():
    connect()
    yield
    ray.shutdown()


def quick(**sections) -> Experiment:
    spec = importlib.util.spec_from_file_location("quick", QUICK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return parse({**module.base, **{name: {**module.base.get(name, {}), **given} for name, given in sections.items()}})


def test_a_small_trial_trains_in_its_own_actor():
    size = sizing.of([quick()])
    cores = int(ray.cluster_resources()["CPU"])
    assert (size.launcher, size.device, size.threads, size.at_once) == ("direct", "cpu", 1, cores)
    assert size.resources == {"CPU": 1}


def test_the_driver_of_workers_takes_no_cpu():
    size = sizing.of([quick(training={"workers": 2}, execution={"cpus_per_worker": 0.5})])
    assert (size.launcher, size.resources) == ("ray", {"trial_driver": 1})
    assert size.at_once == int(ray.cluster_resources()["CPU"])


@pytest.mark.parametrize(
    ("sections", "at_once", "said"),
    [
        ({}, 99, "--at-once 99 trials do not fit"),
        ({"training": {"workers": 99}}, None, "not one trial fits:\n  CPU: a trial needs 99"),
        ({"execution": {"device": "cuda"}}, None, "GPU: a trial needs 1, the cluster has 0"),
    ],
)
def test_what_does_not_fit_is_said(sections, at_once, said):
    with pytest.raises(UserError) as error:
        sizing.of([quick(**sections)], at_once)
    assert said in str(error.value)


def test_halving_needs_to_know_its_validations(tmp_path):
    found = space.find(QUICK)
    planned = plan.make(found, Store(tmp_path), {"training.max_passes": 3}, points.sample(found))
    asked = SweepOptions(str(tmp_path), "quick", (1,), "halving", "grid")
    with pytest.raises(UserError, match="halving decides at validations"):
        driver.rungs_of(asked, planned)
