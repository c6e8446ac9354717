"""Whole sweeps on the command line, for tests: started, watched, stopped, and what they leave."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

QUICK = str(Path(__file__).with_name("quick.py"))
VALIDATE_EVERY = 8


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
            (run / "weights.safetensors").read_bytes(),
            json.loads((run / "scores.json").read_text())["tests"],
        )
        for run in runs
    }


def decisions(storage: Path) -> list[dict[str, Any]]:
    made = json.loads((storage / "sweeps/quick/state.json").read_text())["decisions"]
    return [{key: value for key, value in each.items() if key != "time"} for each in made]


def processes(storage: Path) -> set[int]:
    """Those in which the trials of the last command ran."""
    last = max(storage.glob("sweeps/quick/tune/*/"))
    reported = [line for path in last.glob("*/result.json") for line in path.read_text().splitlines()]
    return {json.loads(line)["pid"] for line in reported}


def wait_for(check: Callable[[], Any], driver: subprocess.Popen[str], seconds: float = 400.0) -> None:
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
