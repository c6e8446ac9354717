"""Whole sweeps on the command line: run, killed, continued, extended, failing; equal results whatever happened."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from augury.cli import main
from augury.store import Store
from augury.sweeping import state

QUICK = str(Path(__file__).with_name("quick.py"))
VALIDATE_EVERY = 8
FLAGS = ("--scheduler", "halving", "--seeds", "1", "2")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def command(storage: Path, *flags: str, space: str = QUICK) -> list[str]:
    return [sys.executable, "-m", "augury.cli", "sweep", space, "--storage", str(storage), "--name", "quick", *flags]


def sweep(storage: Path, *flags: str, code: int = 0, space: str = QUICK) -> dict[str, Any]:
    """Run the command to its end; what it says as JSON."""
    words = command(storage, "--json", *flags, space=space)
    done = subprocess.run(words, capture_output=True, text=True, timeout=500)
    assert done.returncode == code, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def results(storage: Path) -> dict[str, tuple[bytes, Any]]:
    """Parameters and scores of every run of the storage."""
    runs = sorted(path.parent for path in storage.glob("runs/*/seed-*/_COMPLETE"))
    return {
        f"{run.parent.name}/{run.name}": (
            (run / "averaged.safetensors").read_bytes(), json.loads((run / "scores.json").read_text())["tests"]
        )
        for run in runs
    }  # fmt: skip


def decisions(storage: Path) -> list[dict[str, Any]]:
    made = json.loads((storage / "sweeps/quick/state.json").read_text())["decisions"]
    return [{key: value for key, value in each.items() if key != "time"} for each in made]


def wait_for(check: Callable[[], Any], driver: subprocess.Popen[str], seconds: float = 240.0) -> None:
    """Wait until `check` holds, while the driver lives."""
    until = time.monotonic() + seconds
    while not check():
        assert driver.poll() is None, driver.communicate()[1]
        assert time.monotonic() < until, "it did not come to pass"
        time.sleep(0.05)


def validations(storage: Path) -> int:
    """Checkpoints there are or have been, of all runs."""
    latest: dict[Path, int] = {}
    for path in storage.glob("runs/*/seed-*/checkpoints/0*"):
        latest[path.parent] = max(int(path.name), latest.get(path.parent, 0))
    return sum(update // VALIDATE_EVERY for update in latest.values())


def children(driver: subprocess.Popen[str], name: str) -> list[psutil.Process]:
    """The driver's processes of that name, at any depth."""
    found = []
    for each in psutil.Process(driver.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            found += [each] if name in each.name() else []
    return found


def stop(driver: subprocess.Popen[str], number: int) -> str:
    """Send a signal to a driver, whose end is that of the Ray that it started; what it said."""
    family = psutil.Process(driver.pid).children(recursive=True)
    driver.send_signal(number)
    _, said = driver.communicate(timeout=120)
    psutil.wait_procs(family, timeout=60)
    return said


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> tuple[Path, dict[str, Any]]:
    storage = tmp_path_factory.mktemp("undisturbed")
    return storage, sweep(storage, *FLAGS)


def test_the_result_of_a_sweep(undisturbed):
    storage, found = undisturbed
    assert (found["failed"], found["reused"]) == (0, 0)
    assert found["finished"] >= 1
    assert found["answer"]
    assert {row["name"] for row in found["table"]} == {"baseline", "beta=0", "beta=5"}
    stands = state.load(Store(storage), "quick")
    assert stands.ended and stands.count("running") == stands.count("waiting") == 0
    assert [each.name for each in stands.configurations] == ["baseline", "beta=0", "beta=5"]
    assert stands.decisions[-1].action == "chosen"
    assert (storage / "sweeps/quick/index.html").stat().st_size > 1_000_000
    assert list(storage.glob("sweeps/quick/tune/*/*/events.out.tfevents*")), "TensorBoard has nothing to show"


def test_stopped_in_every_way_it_ends_as_if_undisturbed(undisturbed, tmp_path):
    """A killed driver, Ctrl-C, a killed trial: the same command finishes the sweep."""
    for further, number in ((2, signal.SIGKILL), (3, signal.SIGINT)):
        wanted = validations(tmp_path) + further
        driver = subprocess.Popen(command(tmp_path, *FLAGS), stderr=subprocess.PIPE, text=True)
        wait_for(lambda wanted=wanted: validations(tmp_path) >= wanted, driver)
        assert "continue with: augury sweep" in stop(driver, number) or number == signal.SIGKILL
    assert state.load(Store(tmp_path), "quick").ended is False
    driver = subprocess.Popen(command(tmp_path, *FLAGS), stderr=subprocess.PIPE, text=True)
    wait_for(lambda: children(driver, "ImplicitFunc"), driver)
    os.kill(children(driver, "ImplicitFunc")[0].pid, signal.SIGKILL)
    _, said = driver.communicate(timeout=400)
    assert driver.returncode == 0, said
    assert results(tmp_path) == results(undisturbed[0])
    assert decisions(tmp_path) == decisions(undisturbed[0])


def test_more_values_and_seeds_train_only_what_is_missing(undisturbed, tmp_path):
    storage, wide = tmp_path / "storage", tmp_path / "quick.py"
    shutil.copytree(undisturbed[0], storage)
    first = results(storage)
    wide.write_text(Path(QUICK).read_text().replace("[0, 5]", "[0, 5, 2]"))
    extended = sweep(storage, "--seeds", "1", "2", "3", space=str(wide))
    assert (extended["reused"], extended["finished"]) == (len(first), 12)
    assert {run: result for run, result in results(storage).items() if run in first} == first
    before = {path: path.stat().st_mtime_ns for path in storage.glob("runs/*/seed-*/_COMPLETE")}
    narrowed = sweep(storage, "--seeds", "1", "2")
    assert (narrowed["reused"], narrowed["finished"], len(narrowed["table"])) == (6, 6, 3)
    assert {path: path.stat().st_mtime_ns for path in storage.glob("runs/*/seed-*/_COMPLETE")} == before


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
    words = [*command(tmp_path, "--seeds", "1")]
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
    """A trial of two Ray Train workers ends equal with a worker killed."""
    one = tmp_path / "quick.py"
    one.write_text(Path(QUICK).read_text().replace("[0, 5]", "[5]").replace("seeds = (1, 2)", "seeds = (1,)"))
    flags = []
    for setting in ("training.workers=2", "execution.cpus_per_worker=0.5", "baseline=false", "training.max_updates=24"):
        flags += ["--set", setting]
    sweep(tmp_path / "undisturbed", *flags, space=str(one))
    words = command(tmp_path / "killed", *flags, space=str(one))
    driver = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: validations(tmp_path / "killed"), driver)
    workers = children(driver, "RayTrainWorker")
    assert len(workers) == 2
    os.kill(workers[0].pid, signal.SIGKILL)
    _, said = driver.communicate(timeout=500)
    assert driver.returncode == 0, said
    assert len(results(tmp_path / "killed")) == 1
    assert results(tmp_path / "killed") == results(tmp_path / "undisturbed")


@pytest.mark.parametrize(("flags", "said"), [
    (("--seeds", "1", "1"), "give each seed once"),
    (("--samples", "3"), "is a grid and has no values to draw"),
    (("--budget", "soon"), "such as 90s, 30m, 2h or 1d"),
    (("--set", "regime.beta=1"), "sweeps this key"),
    (("--set", "regime.betta=1"), "did you mean 'beta'"),
    (("--search", "optuna"), "say how many points it may suggest with --samples N"),
    (("--scheduler", "pbt", "--trials", "3"), "leave out --trials"),
])  # fmt: skip
def test_what_cannot_be_meant_is_said(tmp_path, flags, said, capsys):
    assert main(command(tmp_path, *flags)[3:]) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.glob("runs/*"))
