"""The placement of trials, and errors for trials that cannot be placed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import ray
from ray.exceptions import OutOfMemoryError

from augury.core.errors import UserError
from augury.experiments.spec import Experiment, parse
from augury.sweeping.tune import DRIVER_MEMORY, _quiet, place

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
    placement = place([quick()])
    cores = int(ray.cluster_resources()["CPU"])
    assert placement.execution == {"launcher": "direct", "device": "cpu", "threads": 1}
    assert (placement.at_once, placement.resources) == (cores, {"CPU": 1})


@pytest.mark.usefixtures("local_ray")
def test_the_driver_of_workers_requests_no_cpu():
    workers = quick(training={"workers": 2}, execution={"cpus_per_worker": 0.5})
    placement = place([workers])
    assert placement.execution["launcher"] == "ray"
    assert placement.resources == {"memory": DRIVER_MEMORY}
    assert placement.at_once == int(ray.cluster_resources()["CPU"])


@pytest.mark.usefixtures("local_ray")
def test_the_file_can_say_how_many_trials_run_at_once():
    assert place([quick(execution={"at_once": 1})]).at_once == 1
    many = place([quick(execution={"at_once": 99, "launcher": "ray"})])
    assert many.at_once <= int(ray.cluster_resources()["CPU"])


@pytest.mark.usefixtures("local_ray")
@pytest.mark.parametrize(
    ("sections", "at_once", "message"),
    [
        ({}, 99, "--at-once 99: only"),
        ({"training": {"workers": 99}}, None, "not a single trial fits: each needs 99 CPU"),
        ({"execution": {"device": "cuda"}}, None, "each needs 1 CPU, 1 GPU, and the cluster has"),
    ],
)
def test_trials_that_do_not_fit_are_rejected(sections, at_once, message):
    with pytest.raises(UserError) as error:
        place([quick(**sections)], at_once)
    assert message in str(error.value)


def test_memory_that_runs_out_is_an_error_of_the_user(tmp_path: Path) -> None:
    """Tune raises a RuntimeError of Ray's error, as it does for no other death of a process."""
    with pytest.raises(UserError, match="--at-once 1"), _quiet(tmp_path / "ray.log"):
        raise RuntimeError("caught") from OutOfMemoryError("22.32GB used / 23.54GB limit")
    with pytest.raises(RuntimeError, match="another"), _quiet(tmp_path / "ray.log"):
        raise RuntimeError("another")
