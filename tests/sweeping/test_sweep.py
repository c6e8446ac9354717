"""Whole sweeps on the command line: run, killed, continued, extended, failing; equal results whatever happened."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from augury.cli import main
from augury.store import Store
from augury.sweeping import state

QUICK = str(Path(__file__).with_name("quick.py"))

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def command(storage: Path, *flags: str) -> list[str]:
    return [sys.executable, "-m", "augury.cli", "sweep", QUICK, "--storage", str(storage), "--name", "quick", *flags]


def sweep(storage: Path, *flags: str, code: int = 0) -> dict[str, Any]:
    """Run the command to its end; what it says as JSON."""
    done = subprocess.run(command(storage, "--json", *flags), capture_output=True, text=True, timeout=500)
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


def wait_for(check: Any, seconds: float = 240.0) -> Any:
    """Whatever `check` returns, once it is true."""
    until = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < until, "it did not come to pass"
        time.sleep(0.05)
    return found


def checkpoints(storage: Path) -> int:
    return len(list(storage.glob("runs/*/seed-*/checkpoints/0*")))


def stop(process: subprocess.Popen[str], number: int = signal.SIGKILL) -> None:
    """Kill a driver; the Ray that it started goes with it."""
    family = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(number)
    process.wait(60)
    if number == signal.SIGKILL:
        psutil.wait_procs(family, timeout=60)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> tuple[Path, dict[str, Any]]:
    storage = tmp_path_factory.mktemp("undisturbed")
    return storage, sweep(storage, "--scheduler", "halving", "--seeds", "1", "2")


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


def test_again_trains_nothing(undisturbed):
    storage, first = undisturbed
    before = {path: path.stat().st_mtime_ns for path in storage.glob("runs/*/seed-*/_COMPLETE")}
    again = sweep(storage, "--scheduler", "halving", "--seeds", "1", "2")
    assert again["reused"] == len(before) == first["finished"]
    assert {path: path.stat().st_mtime_ns for path in storage.glob("runs/*/seed-*/_COMPLETE")} == before
    assert again["answer"] == first["answer"]


def test_killed_twice_it_ends_as_if_undisturbed(undisturbed, tmp_path):
    flags = ("--scheduler", "halving", "--seeds", "1", "2")
    for wanted in (2, 6):
        driver = subprocess.Popen(command(tmp_path, *flags), stderr=subprocess.DEVNULL, text=True)
        while checkpoints(tmp_path) < wanted:
            assert driver.poll() is None
            time.sleep(0.05)
        stop(driver)
    sweep(tmp_path, *flags)
    assert results(tmp_path) == results(undisturbed[0])
    assert decisions(tmp_path) == decisions(undisturbed[0])


def test_ctrl_c_keeps_what_is_done(tmp_path):
    driver = subprocess.Popen(command(tmp_path), stderr=subprocess.PIPE, text=True)
    wait_for(lambda: checkpoints(tmp_path) >= 3)
    driver.send_signal(signal.SIGINT)
    _, said = driver.communicate(timeout=120)
    assert driver.returncode == 1
    assert "continue with: augury sweep" in said
    assert checkpoints(tmp_path) >= 3


def test_a_killed_trial_is_begun_again(undisturbed, tmp_path):
    flags = ("--scheduler", "halving", "--seeds", "1", "2")
    driver = subprocess.Popen(command(tmp_path, *flags), stderr=subprocess.DEVNULL, text=True)
    wait_for(lambda: checkpoints(tmp_path) >= 2)
    actors = [each for each in psutil.Process(driver.pid).children(recursive=True) if "ImplicitFunc" in each.name()]
    assert actors
    os.kill(actors[0].pid, signal.SIGKILL)
    assert driver.wait(500) == 0
    assert results(tmp_path) == results(undisturbed[0])
    assert decisions(tmp_path) == decisions(undisturbed[0])


def test_more_values_and_seeds_train_only_what_is_missing(tmp_path):
    wide = tmp_path / "quick.py"
    wide.write_text(Path(QUICK).read_text().replace("[0, 5]", "[0]").replace("seeds = (1, 2)", "seeds = (1,)"))
    storage = tmp_path / "storage"
    narrow = subprocess.run(
        [*command(storage, "--json")[:4], str(wide), *command(storage, "--json")[5:]], capture_output=True, text=True
    )
    assert json.loads(narrow.stdout)["finished"] == 2
    first = results(storage)
    extended = sweep(storage, "--seeds", "1", "2")
    assert (extended["reused"], extended["finished"]) == (2, 6)
    assert {run: result for run, result in results(storage).items() if run in first} == first
    again = subprocess.run(
        [*command(storage, "--json")[:4], str(wide), *command(storage, "--json")[5:]], capture_output=True, text=True
    )
    narrowed = json.loads(again.stdout)
    assert (narrowed["reused"], narrowed["finished"], len(narrowed["table"])) == (2, 2, 2)


def test_a_failing_configuration_is_marked_and_the_others_go_on(tmp_path):
    wild = tmp_path / "quick.py"
    text = Path(QUICK).read_text().replace('{"regime.beta": [0, 5]}', '{"training.learning_rate": [5e-3, 1e30]}')
    wild.write_text(text.replace("seeds = (1, 2)", "seeds = (1,)"))
    words = command(tmp_path / "storage", "--json")
    done = subprocess.run([*words[:4], str(wild), *words[5:]], capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert (done.returncode, found["failed"], found["finished"]) == (1, 1, 2)
    stands = state.load(Store(tmp_path / "storage"), "quick")
    failed = [trial for each in stands.configurations for trial in each.trials if trial.progress == "failed"]
    assert failed[0].error is not None and failed[0].error.startswith("Diverged: update")


def test_a_limit_of_trials_ends_the_command_and_the_next_one_goes_on(undisturbed, tmp_path):
    flags = ("--scheduler", "halving", "--seeds", "1", "2")
    assert sweep(tmp_path, *flags, "--trials", "2", code=1)["ended"] is False
    assert sweep(tmp_path, *flags)["ended"] is True
    assert results(tmp_path) == results(undisturbed[0])
    assert decisions(tmp_path) == decisions(undisturbed[0])


def test_a_metric_that_is_not_validated_is_named(tmp_path):
    wrong = tmp_path / "quick.py"
    wrong.write_text(Path(QUICK).read_text().replace('"valid/loss"', '"valid/blue"').replace("(1, 2)", "(1,)"))
    words = command(tmp_path / "storage", "--json")
    done = subprocess.run([*words[:4], str(wrong), *words[5:]], capture_output=True, text=True, timeout=300)
    assert (done.returncode, json.loads(done.stdout)["failed"]) == (1, 3)
    trials = [
        trial for each in state.load(Store(tmp_path / "storage"), "quick").configurations for trial in each.trials
    ]
    assert trials[0].error == (
        "the space's metric valid/blue is not validated; there is valid/best, valid/bleu, valid/loss, valid/perplexity"
    )


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


def test_a_killed_train_worker_of_a_race(tmp_path):
    """Trials of two Ray Train workers each, which the race pauses and continues, end equal with a worker killed."""
    flags = ["--scheduler", "halving", "--seeds", "1", "--at-once", "1"]
    for setting in ("training.workers=2", "execution.cpus_per_worker=0.5", "baseline=false", "training.max_updates=32"):
        flags += ["--set", setting]
    sweep(tmp_path / "undisturbed", *flags)
    driver = subprocess.Popen(command(tmp_path / "killed", *flags), stderr=subprocess.DEVNULL, text=True)
    wait_for(lambda: checkpoints(tmp_path / "killed") >= 1)
    workers = [each for each in psutil.Process(driver.pid).children(recursive=True) if "RayTrainWorker" in each.name()]
    assert len(workers) == 2
    os.kill(workers[0].pid, signal.SIGKILL)
    assert driver.wait(500) == 0
    assert results(tmp_path / "killed") == results(tmp_path / "undisturbed")
    assert decisions(tmp_path / "killed") == decisions(tmp_path / "undisturbed")


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


@pytest.mark.parametrize(("flags", "said"), [
    (("--at-once", "99"), "--at-once 99 trials do not fit"),
    (("--set", "training.workers=99"), "not one trial fits:\n  CPU: a trial needs 99"),
    (("--set", "execution.device=cuda"), "GPU: a trial needs 1, the cluster has 0"),
    (("--scheduler", "halving", "--set", "training.max_epochs=3"), "halving decides at validations"),
])  # fmt: skip
def test_what_cannot_be_placed_is_said_before_anything_runs(tmp_path, flags, said):
    done = subprocess.run(command(tmp_path, *flags), capture_output=True, text=True, timeout=200)
    assert done.returncode == 2
    assert said in done.stderr
    assert not list(tmp_path.glob("runs/*"))
