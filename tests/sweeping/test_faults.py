"""Sweeps with failing trials, killed workers and concurrent drivers."""

from __future__ import annotations

import os
import signal
from collections import Counter
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


def space(folder: Path, keys: str) -> str:
    """Return the quick space with other keys and one seed."""
    text = Path(QUICK).read_text().replace('{"regime.beta": [0, 5]}', keys)
    path = folder / "quick.py"
    path.write_text(text.replace("seeds=(1, 2)", "seeds=(1,)"))
    return str(path)


def test_a_failing_configuration_is_marked_and_the_others_continue(tmp_path: Path) -> None:
    diverging = space(tmp_path, '{"training.learning_rate": [5e-3, 1e30]}')
    flags = ("--set", "training.max_updates=8")
    result = sweep(tmp_path / "storage", *flags, code=1, space=diverging)
    assert (result["failed"], result["finished"]) == (1, 2)
    loaded = state.load(Store(tmp_path / "storage"), "quick")
    (failed,) = [trial for _, trial in loaded.trials if trial.progress == "failed"]
    assert failed.error is not None and failed.error.startswith("Diverged: update")


def test_two_drivers_share_the_work(tmp_path: Path) -> None:
    """Every folder is created once and every run trained once, by whichever driver comes first."""
    flags = ("--seeds", "1", "--at-once", "1", "--set", "training.max_updates=24")
    command = command_line(tmp_path, *flags)
    drivers = [start(*command, "--name", name) for name in ("first", "second")]
    outputs = [driver.communicate(timeout=500)[1] for driver in drivers]
    assert [driver.returncode for driver in drivers] == [0, 0], outputs
    lines = "\n".join(outputs).splitlines()
    made = Counter(line.partition(" · ")[0] for line in lines if "executor" not in line)
    for stage in ("read train", "read valid", "augment rot-1", "fit cipher"):
        assert made[stage] == 1, stage
    assert made["vocabulary"] == 2  # of the baseline and with the enciphered text
    assert len(results(tmp_path)) == 3


@pytest.mark.long
def test_a_killed_train_worker_of_a_trial(tmp_path: Path) -> None:
    """A trial with two Ray Train workers, one of which is killed, equals the same training
    without a sweep."""
    settings = ("training.workers=2", "execution.cpus_per_worker=0.5", "training.max_updates=16")
    flags = [word for setting in (*settings, "baseline=false") for word in ("--set", setting)]
    regime = {**quick.BASE["regime"], "beta": 5}
    experiment = tmp_path / "quick.yaml"
    experiment.write_text(yaml.safe_dump({**quick.BASE, "regime": regime, "seeds": [1]}))
    undisturbed = tmp_path / "undisturbed"
    assert main(["train", str(experiment), "--set", f"storage={undisturbed}", *flags]) == 0
    mine = space(tmp_path, '{"regime.beta": [5]}')
    driver = start(*command_line(tmp_path / "killed", *flags, space=mine))
    wait_for(lambda: validations(tmp_path / "killed"), driver)
    workers = actors("RayTrainWorker")
    assert len(workers) == 2
    os.kill(workers[0].pid, signal.SIGKILL)
    _, output = driver.communicate(timeout=500)
    assert driver.returncode == 0, output
    assert len(results(tmp_path / "killed")) == 1
    assert results(tmp_path / "killed") == results(undisturbed)
