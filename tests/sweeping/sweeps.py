"""Whole sweeps, for tests: run in this process or started beside it, watched, stopped; and what they leave."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any

import psutil

from augury.cli import main

QUICK = str(Path(__file__).with_name("quick.py"))
VALIDATE_EVERY = 8


def words(storage: Path, *flags: str, space: str = QUICK) -> list[str]:
    """The command line of a sweep."""
    return ["sweep", space, "--storage", str(storage), "--name", "quick", *flags]


def sweep(storage: Path, *flags: str, code: int = 0, space: str = QUICK) -> dict[str, Any]:
    """Run a sweep to its end in this process, on the session's Ray; what it prints as JSON."""
    with redirect_stdout(io.StringIO()) as output:
        assert main(words(storage, "--json", *flags, space=space)) == code
    return dict(json.loads(output.getvalue()))


def start(*command: str) -> subprocess.Popen[str]:
    """Start a command in a process of its own, on the session's Ray."""
    import ray

    environment = {**os.environ, "RAY_ADDRESS": ray.get_runtime_context().gcs_address}
    line = [sys.executable, "-m", "augury.cli", *command]
    return subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)


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
    """What was decided, without the times."""
    content = json.loads((storage / "sweeps/quick/state.json").read_text())["decisions"]
    return [{key: value for key, value in decision.items() if key != "time"} for decision in content]


def processes(storage: Path) -> set[int]:
    """Those in which the trials of the last command have reported."""
    last = max(storage.glob("sweeps/quick/tune/*/"))
    reports = [line for path in last.glob("*/result.json") for line in path.read_text().splitlines()]
    return {json.loads(line)["pid"] for line in reports}


def wait_for(check: Callable[[], Any], driver: subprocess.Popen[str], seconds: float = 200.0) -> None:
    """Wait until `check` holds, while the driver lives."""
    until = time.monotonic() + seconds
    while not check():
        assert driver.poll() is None, driver.communicate()[1]
        assert time.monotonic() < until, "it did not come to pass"
        time.sleep(0.05)


def validations(storage: Path) -> int:
    """Validations that the checkpoints of all runs tell of."""
    latest: dict[Path, int] = {}
    for path in storage.glob("runs/*/seed-*/checkpoints/0*"):
        latest[path.parent] = max(int(path.name), latest.get(path.parent, 0))
    return sum(update // VALIDATE_EVERY for update in latest.values())


def actors(name: str) -> list[psutil.Process]:
    """The actors of that name in the session's Ray, whose processes are children of this one."""
    matching = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            title = " ".join(process.cmdline())
            matching += [process] if title.startswith("ray::") and name in title else []
    return matching


def stop(driver: subprocess.Popen[str], number: int) -> str:
    """Send a signal to a driver, and wait until Ray has taken away its actors; what it printed."""
    before = {process.pid for process in actors("ImplicitFunc")}
    driver.send_signal(number)
    _, output = driver.communicate(timeout=120)
    deadline = time.monotonic() + 60
    while {process.pid for process in actors("ImplicitFunc")} & before and time.monotonic() < deadline:
        time.sleep(0.1)
    return output
