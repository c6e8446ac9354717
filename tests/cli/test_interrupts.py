"""Ctrl-C, or SIGTERM, while a command waits ends it with 130, or 143, a line and no traceback."""

from __future__ import annotations

import functools
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from augury.cli import main
from augury.core.locks import locked
from augury.core.store import Store
from augury.corpora.ingest import corpus_address
from tests import tiny

# A shell that runs these tests in the background ignores SIGINT, and child processes inherit that.
restore_sigint = functools.partial(signal.signal, signal.SIGINT, signal.default_int_handler)


def interrupted(
    command: list[str], wait: Callable[[Any], object], by: signal.Signals = signal.SIGINT
) -> str:
    """Run a command, interrupt it after `wait` and return the rest of its standard error."""
    process = subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=restore_sigint,
    )
    try:
        wait(process)
        process.send_signal(by)
        _, error = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 128 + by, error
    return str(error)


def test_waiting_for_a_lock(tmp_path: Path) -> None:
    experiment = tiny.experiment("nmt", tmp_path / "store")
    content = experiment.model_dump(mode="json", exclude_unset=True)
    (tmp_path / "toy.yaml").write_text(yaml.safe_dump(content))
    store = Store(experiment.storage)
    address = corpus_address(experiment.corpus, "train")
    with locked(store.folder("corpora", address)):
        error = interrupted(
            ["-m", "augury.cli", "config", str(tmp_path / "toy.yaml")],
            lambda process: next(line for line in process.stderr if "waiting for another" in line),
            signal.SIGTERM,
        )
    assert "augury: stopped. Finished work is kept" in error and "Traceback" not in error


def test_how_to_continue_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> bytes:
        raise KeyboardInterrupt("stopped after update 9")

    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=SimpleNamespace(read=interrupted)))
    assert main(["compare", "-", "--references", __file__]) == 130
    error = capsys.readouterr().err
    assert error.startswith("augury: stopped after update 9. Finished work is kept")
    assert "augury compare - --references" in error
