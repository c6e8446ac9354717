"""Sweeps with failing trials, killed workers and concurrent drivers."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import yaml

from augury.cli import main
from augury.core.store import Store
from augury.sweeping import state
from tests.sweeping import quick
from tests.sweeping.sweeps import (
    QUICK,
    actors,
    command_line,
    results,
    start,
    sweep,
    validations,
    wait_for,
)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("local_ray"), pytest.mark.timeout(600)]


def test_a_failing_configuration_is_marked_and_the_others_continue(tmp_path):
    diverging = tmp_path / "quick.py"
    text = (
        Path(QUICK)
        .read_text()
        .replace('{"regime.beta": [0, 5]}', '{"training.learning_rate": [5e-3, 1e30]}')
    )
    text = text.replace("seeds=(1, 2)", "seeds=(1,)").replace(
        '"max_updates": 64', '"max_updates": 8'
    )
    diverging.write_text(text)
    result = sweep(tmp_path / "storage", code=1, space=str(diverging))
    assert (result["failed"], result["finished"]) == (1, 2)
    loaded = state.load(Store(tmp_path / "storage"), "quick")
    trials = [trial for configuration in loaded.configurations for trial in configuration.trials]
    (failed,) = [trial for trial in trials if trial.progress == "failed"]
    assert failed.error is not None and failed.error.startswith("Diverged: update")


def test_two_drivers_share_the_work(tmp_path):
    """Every folder is created once and every run trained once, by whichever driver comes first."""
    command = command_line(
        tmp_path, "--seeds", "1", "--at-once", "1", "--set", "training.max_updates=24"
    )
    drivers = [start(*command, "--name", name) for name in ("first", "second")]
    outputs = [driver.communicate(timeout=500)[1] for driver in drivers]
    assert [driver.returncode for driver in drivers] == [0, 0], outputs
    lines = "\n".join(outputs).splitlines()
    for stage in ("read train", "read valid", "augment rot-1", "fit cipher"):
        assert (
            sum(line.startswith(f"{stage} ") and "executor" not in line for line in lines) == 1
        ), stage
    assert (
        sum(line.startswith("vocabulary ") for line in lines) == 2
    )  # of the baseline and with the enciphered text
    assert len(results(tmp_path)) == 3


@pytest.mark.long
def test_a_killed_train_worker_of_a_trial(tmp_path):
    """A trial with two Ray Train workers, one of which is killed, equals the same training
    without a sweep."""
    settings = (
        "training.workers=2",
        "execution.cpus_per_worker=0.5",
        "baseline=false",
        "training.max_updates=16",
    )
    flags = [word for setting in settings for word in ("--set", setting)]
    experiment = tmp_path / "quick.yaml"
    experiment.write_text(
        yaml.safe_dump({**quick.BASE, "regime": {**quick.BASE["regime"], "beta": 5}, "seeds": [1]})
    )
    undisturbed = tmp_path / "undisturbed"
    assert main(["train", str(experiment), "--set", f"storage={undisturbed}", *flags]) == 0
    space = tmp_path / "quick.py"
    space.write_text(
        Path(QUICK).read_text().replace("[0, 5]", "[5]").replace("seeds=(1, 2)", "seeds=(1,)")
    )
    driver = start(*command_line(tmp_path / "killed", *flags, space=str(space)))
    wait_for(lambda: validations(tmp_path / "killed"), driver)
    workers = actors("RayTrainWorker")
    assert len(workers) == 2
    os.kill(workers[0].pid, signal.SIGKILL)
    _, output = driver.communicate(timeout=500)
    assert driver.returncode == 0, output
    assert len(results(tmp_path / "killed")) == 1
    assert results(tmp_path / "killed") == results(undisturbed)
