"""Sweeps on the command line: run, killed, continued and extended, with equal results."""

from __future__ import annotations

import re
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import augury
from augury.core.store import Store
from augury.sweeping import state
from tests.sweeping.sweeps import (
    QUICK,
    choice,
    command_line,
    results,
    start,
    stop,
    sweep,
    trials,
    validations,
    wait_for,
)

FLAGS = (
    *("--scheduler", "race", "--seeds", "1", "2"),
    *("--set", "training.max_updates=32", "--set", "execution.threads=1"),
)

Undisturbed = tuple[Path, dict[str, Any]]
pytestmark = [pytest.mark.timeout(600), pytest.mark.trains]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    storage = tmp_path_factory.mktemp("undisturbed")
    return storage, sweep(storage, *FLAGS, "--executor", "local")


def prepared(undisturbed: Undisturbed, tmp_path: Path) -> Path:
    """Return a storage with the texts of the undisturbed sweep alone."""
    storage = tmp_path / "storage"
    shutil.copytree(undisturbed[0], storage, ignore=shutil.ignore_patterns("runs", "sweeps"))
    return storage


def test_the_result_of_a_sweep(undisturbed: Undisturbed) -> None:
    storage, result = undisturbed
    assert (result["failed"], result["reused"]) == (0, 0)
    assert result["finished"] >= 1 and result["answer"]
    names = ["baseline", "beta=0", "beta=5"]
    assert sorted(row["name"] for row in result["table"]) == names
    quick = state.load(Store(storage), "quick")
    assert quick.ended and quick.count("running") == quick.count("waiting") == 0
    assert quick.chosen == result["best"]
    assert result["recommended"] is None  # so short a training learns nothing
    assert (storage / "sweeps/quick/index.html").exists()


def test_the_lines_for_notebooks_work(
    undisturbed: Undisturbed, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of docs/python.md, on the sweep that there is."""
    storage, result = undisturbed
    page = (Path(__file__).parents[2] / "docs" / "python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    code = "\n".join(block for block in blocks if "sweep(" in block and "recommend(" not in block)
    name = f"storage={str(storage)!r}, name='quick'"
    space = f"{QUICK!r}, scheduler='race', seeds=[1, 2], set={{'training.max_updates': 32}}, {name}"
    code = code.replace('"augmentations", "my.yaml", budget="2h"', space)
    code = code.replace('"augmentations"', f'"quick", {str(storage)!r}')
    names: dict[str, Any] = {"augury": augury}
    before = results(storage)
    exec(code, names)
    assert results(storage) == before  # nothing is trained again
    assert result["answer"] in capsys.readouterr().out
    assert list(names["frame"]["name"]) == [row["name"] for row in result["table"]]


def kill_a_trial(storage: Path) -> None:
    """Kill the process of a trial that has trained."""
    before = validations(storage)
    while validations(storage) == before or not trials():
        time.sleep(0.05)
    trials()[0].kill()


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["local", "ray"])
def test_an_interrupted_sweep_ends_like_an_undisturbed_one(
    undisturbed: Undisturbed, tmp_path: Path, executor: str, request: pytest.FixtureRequest
) -> None:
    """After Ctrl-C, and on Ray a killed driver and a killed trial, too, the same command finishes
    the sweep."""
    numbers = [signal.SIGINT]
    if executor == "ray":
        request.getfixturevalue("local_ray")
        numbers.insert(0, signal.SIGKILL)
    storage, flags = prepared(undisturbed, tmp_path), (*FLAGS, "--executor", executor)
    for number in numbers:
        target = validations(storage) + 1
        driver = start(*command_line(storage, *flags), executor=executor)
        wait_for(lambda target=target: validations(storage) >= target, driver)
        assert "augury sweep" in stop(driver, number, executor) or number == signal.SIGKILL
    assert state.load(Store(storage), "quick").ended is False
    if executor == "ray":
        killer = threading.Thread(target=kill_a_trial, args=(storage,))
        killer.start()
        sweep(storage, *flags)
        killer.join()
    else:
        sweep(storage, *flags)
    assert results(storage) == results(undisturbed[0])
    assert choice(storage) == choice(undisturbed[0])


def test_more_values_and_seeds_train_only_missing_trials(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    storage, wide = tmp_path / "storage", tmp_path / "quick.py"
    shutil.copytree(undisturbed[0], storage)
    first = results(storage)
    wide.write_text(Path(QUICK).read_text().replace("[0, 5]", "[0, 5, 2]"))
    updates = FLAGS[-4:]
    more = ("--seeds", "3", "1", "--confirm", "0", "--executor", "local")
    extended = sweep(storage, *more, *updates, space=str(wide))
    kept = sum(run.endswith(("/seed-1", "/seed-3")) for run in first)
    assert 3 <= kept < 8 and (extended["reused"], extended["finished"]) == (kept, 8)
    every = results(storage)
    assert {run: every[run] for run in first} == first
    before = {path: path.stat().st_mtime_ns for path in storage.glob("runs/*/seed-*/manifest.json")}
    narrowed = sweep(storage, "--seeds", "1", "2", *updates, "--executor", "local")
    assert narrowed["reused"] == narrowed["finished"] >= 6 and len(narrowed["table"]) == 3
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert results(storage) == every
