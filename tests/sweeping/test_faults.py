"""Sweeps in which something goes wrong, or in which two drivers meet."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from augury.core.store import Store
from augury.sweeping import state
from tests.sweeping import quick
from tests.sweeping.sweeps import QUICK, children, command, results, sweep, validations, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def test_a_failing_configuration_is_marked_and_the_others_go_on(tmp_path):
    wild = tmp_path / "quick.py"
    text = Path(QUICK).read_text().replace('{"regime.beta": [0, 5]}', '{"training.learning_rate": [5e-3, 1e30]}')
    wild.write_text(text.replace("seeds = (1, 2)", "seeds = (1,)"))
    found = sweep(tmp_path / "storage", code=1, space=str(wild))
    assert (found["failed"], found["finished"]) == (1, 2)
    stands = state.load(Store(tmp_path / "storage"), "quick")
    failed = [trial for each in stands.configurations for trial in each.trials if trial.progress == "failed"]
    assert failed[0].error is not None and failed[0].error.startswith("Diverged: update")


def test_two_drivers_share_the_work(tmp_path):
    """Every folder is made once and every run trained once, by whichever driver comes first."""
    words = command(tmp_path, "--seeds", "1", "--set", "training.max_updates=24")
    drivers = [
        subprocess.Popen([*words, "--name", name], stderr=subprocess.PIPE, text=True) for name in ("one", "other")
    ]
    said = [driver.communicate(timeout=500)[1] for driver in drivers]
    assert [driver.returncode for driver in drivers] == [0, 0], said
    both = "\n".join(said).splitlines()
    for stage in ("read train", "read valid", "augment rot-1", "fit cipher"):
        assert sum(line.startswith(f"{stage} ") and "executor" not in line for line in both) == 1, stage
    assert sum(line.startswith("vocabulary ") for line in both) == 2  # of the baseline and of the enciphered text
    assert len(results(tmp_path)) == 3


def test_a_killed_train_worker_of_a_trial(tmp_path):
    """A trial of two Ray Train workers, one of which is killed, ends as the same training without a sweep."""
    settings = ("training.workers=2", "execution.cpus_per_worker=0.5", "baseline=false", "training.max_updates=24")
    flags = [word for setting in settings for word in ("--set", setting)]
    experiment = tmp_path / "quick.yaml"
    experiment.write_text(yaml.safe_dump({**quick.base, "regime": {**quick.base["regime"], "beta": 5}, "seeds": [1]}))
    undisturbed = tmp_path / "undisturbed"
    words = [sys.executable, "-m", "augury.cli", "train", str(experiment), "--set", f"storage={undisturbed}", *flags]
    subprocess.run(words, check=True, timeout=400)
    one = tmp_path / "quick.py"
    one.write_text(Path(QUICK).read_text().replace("[0, 5]", "[5]").replace("seeds = (1, 2)", "seeds = (1,)"))
    words = command(tmp_path / "killed", *flags, space=str(one))
    driver = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: validations(tmp_path / "killed"), driver)
    workers = children(driver, "RayTrainWorker")
    assert len(workers) == 2
    os.kill(workers[0].pid, signal.SIGKILL)
    _, said = driver.communicate(timeout=500)
    assert driver.returncode == 0, said
    assert len(results(tmp_path / "killed")) == 1
    assert results(tmp_path / "killed") == results(undisturbed)
