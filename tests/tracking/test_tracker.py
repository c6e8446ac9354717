"""Tracking while a command runs: outages, hangs, restarts and kills."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.core.locks import locked
from augury.core.store import Store
from augury.experiments.recording import Tracking
from augury.tracking import tracker as trackers
from augury.tracking.export import Exporter
from augury.tracking.tracker import Tracker
from tests.tracking.reading import curve, logged_runs, states

NAME = "cipherdaug seed 3"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trackers, "SECONDS", 0.05)


def closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def steps(database: str, name: str = NAME) -> list[int]:
    runs = logged_runs(database)
    return [step for step, _ in curve(database, runs[name])] if name in runs else []


def eventually(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until a condition, which another thread or process will meet, is true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_run_from_start_to_finish(
    database: str, store: Store, run: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    tracking = Tracking(uri=database)
    with Tracker(tracking, store) as recorder:
        with locked(run.folder):
            recorder(run.folder)
            run.history(50, 100)
            eventually(lambda: steps(database) == [50, 100])
            running = ("RUNNING", "running")
            eventually(lambda: set(states(database).values()) == {running})
            run.history(150, 200)
        run.scores()
        run.folder.finish({})
    assert set(states(database).values()) == {("FINISHED", "finished")}
    assert steps(database)[-2:] == [150, 200]
    assert capfd.readouterr() == ("", "")
    report = {"title": "ciphers", "answer": "It helps.", "systems": {}, "scores": {}}
    store.folder("reports", "ciphers").write_record("report.json", report)
    with Tracker(tracking, store) as recorder:
        recorder(run.folder)
    runs = logged_runs(database)
    assert runs["ciphers"].data.tags["mlflow.note.content"] == "It helps."
    assert Exporter(tracking, store).storage() == 0


def test_a_run_of_a_sweep_is_sent_with_the_sweep(
    database: str, store: Store, run: Any, trials: Any
) -> None:
    """One with a fresh seed, as the recommended file trains it, and nothing of other sweeps."""
    trials.finish()
    further = trials.trial(trials.definition["reference"], 7, "finished", 12, 21)
    run.scores()
    with Tracker(Tracking(uri=database), store) as recorder:
        recorder(further.folder)
    sent = logged_runs(database)
    assert {"beta", "aa seed 7"} <= set(sent) and NAME not in sent


def test_nothing_is_recorded_unless_something_runs(
    database: str, store: Store, run: Any, trials: Any
) -> None:
    with Tracker(Tracking(enabled=False), store) as recorder:
        recorder(run.folder)
        recorder(trials.folder)
    with Tracker(Tracking(), store):
        pass
    assert not Path(store.root, "mlflow.db").exists()


def test_an_outage_is_said_once_and_its_data_is_sent_later(
    database: str, store: Store, run: Any, trials: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    trials.finish()
    down = Tracking(uri=f"http://someone:secret@127.0.0.1:{closed_port()}")
    with Tracker(down, store) as recorder:
        recorder(run.folder)
        recorder(trials.folder)
        run.history(50, 100)
        run.folder.finish({})
    (line,) = capsys.readouterr().err.splitlines()
    assert "Connection refused" in line and f"augury track {store.root}" in line
    assert "secret" not in line
    with pytest.raises(UserError, match="MLflow at .* cannot be used .*: start it, or set"):
        Exporter(down, store).storage()
    assert Exporter(Tracking(uri=database), store).storage() == 7
    assert set(states(database).values()) == {("FINISHED", "finished")}
    assert steps(database) == [50, 100]


@pytest.mark.slow
def test_two_processes_create_every_run_once(tmp_path: Path, run: Any, trials: Any) -> None:
    run.history(50, 500)
    trials.finish()
    database = f"sqlite:///{tmp_path}/new.db"
    command = [sys.executable, "-m", "augury.cli", "track", run.folder.root, "--uri", database]
    processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait(timeout=120) for process in processes] == [0, 0]
    assert len(logged_runs(database)) == 7  # which asserts that no name occurs twice
    assert steps(database) == list(range(50, 501, 50))
