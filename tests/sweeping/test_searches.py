"""Sweeps with Optuna, and `augury watch --serve`."""

from __future__ import annotations

import functools
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from augury.cli import main
from augury.core.store import Store
from augury.sweeping import state
from tests.sweeping.sweeps import QUICK, results, sweep

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("local_ray"), pytest.mark.timeout(600)]

SHORT = ("--set", "training.max_updates=16", "--executor", "ray")


def quick(tmp_path: Path, keys: str, fields: str = "") -> str:
    """Return the path of the quick space with other keys and additional fields."""
    path = tmp_path / "quick.py"
    text = Path(QUICK).read_text().replace('{"regime.beta": [0, 5]},', f"{keys}, {fields}")
    path.write_text(f"from ray import tune\n{text}\n")
    return str(path)


@pytest.fixture(scope="module")
def suggested(local_ray, tmp_path_factory) -> tuple[Path, str, dict[str, Any]]:
    """A storage with a sweep of two points suggested by Optuna, its space, and the JSON output
    of the command."""
    tmp_path = tmp_path_factory.mktemp("suggested")
    mine = quick(tmp_path, '{"regime.beta": tune.loguniform(0.5, 10)}')
    flags = ("--search", "optuna", "--samples", "2", "--seeds", "1", *SHORT)
    return tmp_path, mine, sweep(tmp_path, *flags, space=mine)


def test_suggested_points_are_trained_reused_and_left_out(suggested):
    storage, mine, result = suggested
    assert (result["failed"], result["reused"], result["finished"]) == (0, 0, 3)
    assert len(result["table"]) == 3
    trained = results(storage)
    fewer = sweep(
        storage, "--search", "optuna", "--samples", "1", "--seeds", "1", *SHORT, space=mine
    )
    assert (fewer["reused"], fewer["finished"], len(fewer["table"])) == (2, 2, 2)
    assert results(storage) == trained


@contextmanager
def serving(*arguments: str) -> Iterator[str]:
    """Run `augury watch --serve` and yield the URL of its page."""
    command = [sys.executable, "-m", "augury.cli", "watch", *arguments, "--serve", "0"]
    # A shell that runs these tests in the background ignores SIGINT, and child processes inherit
    # that.
    restore_sigint = functools.partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=restore_sigint)
    try:
        assert server.stderr is not None
        url = re.search(r"http://127\.0\.0\.1:\d+/", server.stderr.readline())
        assert url is not None
        yield url[0]
    finally:
        os.kill(server.pid, signal.SIGINT)
        server.communicate(timeout=60)


def test_a_sweep_is_watched(suggested, capsys):
    storage = suggested[0]
    names = [
        configuration.name for configuration in state.load(Store(storage), "quick").configurations
    ]
    page = storage / "sweeps/quick/index.html"
    page.unlink()
    assert main(["watch", "quick", "--storage", str(storage), "--once"]) == 0
    assert str(page) in capsys.readouterr().out
    assert all(name in page.read_text() for name in names)
    with serving("quick", "--storage", str(storage)) as url:
        with urllib.request.urlopen(url, timeout=60) as response:
            assert response.read().decode() == page.read_text()
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{url}secrets", timeout=60)
