"""Helpers that run sweeps in this process or another, wait for them, stop them and read their
results."""

from __future__ import annotations

import io
import json
import os
import signal
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


def command_line(storage: Path, *flags: str, space: str = QUICK) -> list[str]:
    """Return the arguments of `augury` for a sweep."""
    return ["sweep", space, "--storage", str(storage), "--name", "quick", *flags]


def sweep(storage: Path, *flags: str, code: int = 0, space: str = QUICK) -> dict[str, Any]:
    """Run a sweep to its end from this process; return its JSON output."""
    with redirect_stdout(io.StringIO()) as output:
        assert main(command_line(storage, "--json", *flags, space=space)) == code
    return dict(json.loads(output.getvalue()))


def start(*command: str, executor: str = "ray") -> subprocess.Popen[str]:
    """Start a command in a new process, on the session's Ray unless `executor` is local."""
    environment = dict(os.environ)
    if executor == "ray":
        import ray

        environment["RAY_ADDRESS"] = ray.get_runtime_context().gcs_address
    line = [sys.executable, "-m", "augury.cli", *command]
    return subprocess.Popen(
        line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
    )


def results(storage: Path) -> dict[str, tuple[bytes, Any]]:
    """Return the weights and scores of every run in the storage that is scored."""
    found: dict[str, tuple[bytes, Any]] = {}
    for scores in sorted(storage.glob("runs/*/seed-*/scores.json")):
        run = scores.parent
        if (run / "manifest.json").exists():
            weights = (run / "weights.safetensors").read_bytes()
            found[f"{run.parent.name}/{run.name}"] = (
                weights,
                json.loads(scores.read_text())["tests"],
            )
    return found


def choice(storage: Path) -> tuple[Any, Any]:
    """Return what the sweep has chosen and what confirms it."""
    content = json.loads((storage / "sweeps/quick/state.json").read_text())
    return content["chosen"], content["confirmation"]


def wait_for(
    check: Callable[[], Any], driver: subprocess.Popen[str], seconds: float = 600.0
) -> None:
    """Wait until `check` is true; fail if the driver exits before."""
    deadline = time.monotonic() + seconds
    while not check():
        assert driver.poll() is None, driver.communicate()[1]
        assert time.monotonic() < deadline, "timeout"
        time.sleep(0.05)


def validations(storage: Path) -> int:
    """Return the total number of validations, judging by the checkpoints of all runs."""
    latest: dict[Path, int] = {}
    for path in storage.glob("runs/*/seed-*/checkpoints/0*"):
        latest[path.parent] = max(int(path.name), latest.get(path.parent, 0))
    return sum(update // VALIDATE_EVERY for update in latest.values())


def trials() -> list[psutil.Process]:
    """Return the processes in which trials run on the session's Ray: children of this one."""
    return processes_of(psutil.Process(), lambda line: line.startswith("ray::Trial"))


def processes_of(parent: psutil.Process, matches: Callable[[str], bool]) -> list[psutil.Process]:
    """Return the processes below another whose command line matches."""
    matching = []
    for process in parent.children(recursive=True):
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            matching += [process] if matches(" ".join(process.cmdline())) else []
    return matching


def stop(driver: subprocess.Popen[str], number: int, executor: str = "ray") -> str:
    """Send a signal to a driver and wait until the processes of its trials have ended.

    Return its standard error.
    """
    # Stopped while processes are looked for: trials wait for its answers, and a short sweep would
    # end meanwhile.
    driver.send_signal(signal.SIGSTOP)
    before = trials() if executor == "ray" else []
    driver.send_signal(number)
    driver.send_signal(signal.SIGCONT)
    _, output = driver.communicate(timeout=120)
    _, alive = psutil.wait_procs(before, timeout=60)
    assert not alive
    return output
