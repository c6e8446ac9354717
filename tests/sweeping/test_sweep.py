"""Whole sweeps on the command line: run, killed, continued, extended; equal results whatever happened."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from augury.cli import main
from augury.core.store import Store
from augury.sweeping import state
from tests.sweeping.sweeps import (
    QUICK,
    children,
    command,
    decisions,
    processes,
    results,
    stop,
    sweep,
    validations,
    wait_for,
)

FLAGS = ("--scheduler", "halving", "--seeds", "1", "2")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


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
        assert "augury sweep" in stop(driver, number) or number == signal.SIGKILL
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
    assert len(processes(storage)) == 2, "processes must be reused by the trials that follow"
    assert {run: result for run, result in results(storage).items() if run in first} == first
    before = {path: path.stat().st_mtime_ns for path in storage.glob("runs/*/seed-*/_COMPLETE")}
    narrowed = sweep(storage, "--seeds", "1", "2")
    assert (narrowed["reused"], narrowed["finished"], len(narrowed["table"])) == (6, 6, 3)
    assert {path: path.stat().st_mtime_ns for path in storage.glob("runs/*/seed-*/_COMPLETE")} == before


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--seeds", "1", "1"), "give each seed once"),
        (("--samples", "3"), "is a grid and has no values to draw"),
        (("--budget", "soon"), "such as 90s, 30m, 2h or 1d"),
        (("--set", "regime.beta=1"), "sweeps this key"),
        (("--set", "regime.betta=1"), "did you mean 'beta'"),
        (("--search", "optuna"), "say how many points it may suggest with --samples N"),
        (("--scheduler", "pbt", "--trials", "3"), "leave out --trials"),
    ],
)
def test_what_cannot_be_meant_is_said(tmp_path, flags, said, capsys):
    assert main(command(tmp_path, *flags)[3:]) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.glob("runs/*"))
