"""Tracking during a command: outages, restarts and kills; syncing a whole storage."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient

from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments.recording import File, Tracking
from augury.tracking import client
from augury.tracking.client import load_mlflow
from augury.tracking.sync import sync, sync_storage
from augury.tracking.tracker import Tracker
from tests.tracking.conftest import A, B
from tests.tracking.reading import artifacts, curve, logged_runs

NAME = "cipherdaug seed 3"


def closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def steps(database: str, name: str = NAME) -> list[int]:
    runs = logged_runs(database)
    return [step for step, _ in curve(database, runs[name])] if name in runs else []


def statuses(database: str) -> dict[str, str]:
    return {name: run.info.status for name, run in logged_runs(database).items()}


def eventually(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until a condition, which another thread or process will meet, is true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_run_from_start_to_finish(
    database: str, store: Store, run: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    vocabulary = store.folder("vocabularies", "77")
    vocabulary.write("pieces.vocab", "a\n")
    missing = File(vocabulary, "alphabet.json")
    tracking = Tracking(uri=database, interval=0.05, system_metrics=True)
    with Tracker(tracking, store) as tracker:
        tracker.start(run.folder)
        with tracker.follow(run.folder):
            run.history(50, 100)
            eventually(lambda: steps(database) == [50, 100])
            assert statuses(database) == {"ciphers": "RUNNING", NAME: "RUNNING"}
            run.history(150, 200)
        run.scores()
        tracker.finish(
            run.folder, "FINISHED", [File(vocabulary, "pieces.vocab", "vocabulary"), missing]
        )
    assert statuses(database) == {"ciphers": "FINISHED", NAME: "FINISHED"}
    assert steps(database) == [50, 100, 150, 200]
    finished = logged_runs(database)[NAME]
    assert artifacts(database, finished, "vocabulary") == {"vocabulary/pieces.vocab"}
    assert finished.data.metrics["system/system_memory_usage_percentage"] > 0
    assert finished.data.tags["mlflow.source.type"] == "LOCAL"
    assert (
        capsys.readouterr().err
        == f"{vocabulary.uri}/alphabet.json does not exist and is not logged to MLflow\n"
    )
    assert sync_storage(store, tracking) == 0
    kind = MlflowClient(database).get_experiment_by_name("augury").tags["mlflow.experimentKind"]
    assert kind == "custom_model_development"


def test_an_outage_is_reported_once_and_recovered_from(
    database: str, store: Store, run: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    down = Tracking(uri=f"http://someone:secret@127.0.0.1:{closed_port()}", interval=0.05)
    with Tracker(down, store) as tracker:
        tracker.start(run.folder)
        with tracker.follow(run.folder):
            run.history(50, 100)
        run.scores()
        tracker.finish(run.folder, "FINISHED")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert "Connection refused" in lines[0] and f"augury track {store.root}" in lines[0]
    assert "secret" not in lines[0]
    assert sync_storage(store, Tracking(uri=database)) == 2
    assert sync_storage(store, Tracking(uri=database)) == 0
    assert statuses(database) == {"ciphers": "FINISHED", NAME: "FINISHED"}
    assert steps(database) == [50, 100]


def test_a_server_that_never_answers_costs_seconds_and_is_said_once(
    store: Store, run: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.5)
    load_mlflow()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hung = Tracking(uri=f"http://127.0.0.1:{silent.getsockname()[1]}", interval=0.05)
        began = time.monotonic()
        for _ in range(2):  # one for runs, and one for their report
            with Tracker(hung, store) as tracker:
                tracker.start(run.folder)
                run.history(50, 100)
                tracker.finish(run.folder, "FINISHED")
    assert time.monotonic() - began < 10
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_next_command_sends_unsent_data(
    database: str, store: Store, run: Any, trials: Any
) -> None:
    trials.finish()
    with Tracker(
        Tracking(uri=f"http://127.0.0.1:{closed_port()}", interval=0.05), store
    ) as tracker:
        tracker.start(run.folder)
        run.history(50, 100)
        tracker.finish(run.folder, "FAILED")
        with tracker.follow(trials.folder):
            pass
    assert not Path(store.root, "mlflow.db").exists()
    expected = {"ciphers": "FAILED", NAME: "FAILED", "beta": "FINISHED"}
    with Tracker(Tracking(uri=database), store):
        eventually(lambda: expected.items() <= statuses(database).items())
    assert steps(database) == [50, 100]


def test_a_command_that_records_nothing_does_not_ask_mlflow(
    database: str, store: Store, run: Any
) -> None:
    with Tracker(Tracking(uri=database, interval=0.05), store) as tracker:
        tracker.start(run.folder)
        tracker.finish(run.folder, "FINISHED")
    with Tracker(Tracking(uri="sqlite:///" + f"{store.root}/other.db"), store):
        pass
    assert not Path(store.root, "other.db").exists()


def test_a_corrupt_run_does_not_block_others(
    database: str, store: Store, run: Any, trials: Any
) -> None:
    run.raw("00000001", {"update": 1})
    trials.finish()
    with pytest.raises(
        UserError, match=r"7 runs synced, 1 failed.*\n.*seed-3: .*00000001.jsonl is damaged"
    ):
        sync_storage(store, Tracking(uri=database))
    run.folder.sub("history").remove("00000001.jsonl")
    assert sync_storage(store, Tracking(uri=database)) == 2


def test_syncing_a_storage_to_a_closed_port_is_an_error(store: Store, run: Any) -> None:
    with pytest.raises(
        UserError, match="cannot reach MLflow .* start it, or set MLFLOW_TRACKING_URI"
    ):
        sync_storage(store, Tracking(uri=f"http://127.0.0.1:{closed_port()}"))


def test_untracked_runs_are_sent(database: str, store: Store, run: Any) -> None:
    run.history(50, 100)
    run.scores()
    run.folder.finish({})
    sync_storage(store, Tracking(uri=database))
    finished = logged_runs(database)[NAME]
    marker = Path(run.folder.path("_COMPLETE")).stat().st_mtime
    assert (finished.info.status, finished.info.end_time) == ("FINISHED", round(marker * 1000))


def test_nothing_is_recorded_if_tracking_is_disabled(store: Store, run: Any, trials: Any) -> None:
    with Tracker(Tracking(enabled=False), store) as tracker:
        tracker.start(run.folder)
        with tracker.follow(run.folder), tracker.follow(trials.folder):
            pass
        tracker.finish(run.folder, "FINISHED")
    assert not run.folder.exists("record.json")
    assert not Path(store.root, "mlflow.db").exists()


@pytest.mark.parametrize(
    ("error", "status"), [(KeyboardInterrupt, "KILLED"), (ValueError, "FAILED")]
)
def test_an_interrupted_command_leaves_its_status(
    database: str, store: Store, trials: Any, error: type[BaseException], status: str
) -> None:
    trials.trial(B, 1, "running", 14)
    trials.write()
    with (
        pytest.raises(error),
        Tracker(Tracking(uri=database), store) as tracker,
        tracker.follow(trials.folder),
    ):
        raise error
    assert statuses(database) == {
        "beta": status,
        "regime.beta=5": "SCHEDULED",
        "bb seed 1": "SCHEDULED",
    }


def test_concurrent_syncs_create_every_run_once(
    database: str, store: Store, run: Any, trials: Any
) -> None:
    run.history(50, 500)
    trials.finish()
    tracking = Tracking(uri=database)
    folders = [run.folder, trials.folder] * 3
    threads = [threading.Thread(target=sync, args=(folder, tracking)) for folder in folders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(logged_runs(database)) == 9  # which asserts that no name occurs twice
    assert steps(database) == list(range(50, 501, 50))


@pytest.mark.slow
def test_two_processes_can_create_the_same_store(tmp_path: Path, run: Any) -> None:
    program = (
        "import sys; from augury.core.store import Folder; "
        "from augury.experiments.recording import Tracking; "
        "from augury.tracking.sync import sync; print(sync(Folder(*sys.argv[1:3]), "
        "Tracking(uri=sys.argv[3])))"
    )
    database = f"sqlite:///{tmp_path}/new.db"
    command = [sys.executable, "-c", program, run.folder.root, run.folder.name, database]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert sorted(process.communicate(timeout=120)[0] for process in processes) == ["0\n", "2\n"]
    assert len(logged_runs(database)) == 2


DRIVER = """
import os, signal, sys, threading, time
from mlflow import MlflowClient
from augury.core.store import Store
from augury.experiments.recording import Tracking
from augury.tracking import client
from augury.tracking.client import load_mlflow
from augury.tracking.tracker import Tracker

store, client = Store(sys.argv[1]), MlflowClient(sys.argv[2])
with Tracker(Tracking(uri=sys.argv[2], interval=0.01), store) as tracker:
    with tracker.follow(store.folder("sweeps", "beta")):
        while True:
            experiment = client.get_experiment_by_name("augury")
            runs = client.search_runs([experiment.experiment_id], "") if experiment else []
            if any(run.info.run_name == sys.argv[3] and run.data.metrics for run in runs):
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(0.001)
"""


@pytest.mark.slow
def test_the_sweep_of_a_killed_driver_is_continued(
    database: str, store: Store, trials: Any
) -> None:
    names = [(A, 1), (A, 2), (B, 1), (B, 2)]
    for address, seed in names:
        trials.trial(address, seed, "running", 10 + seed)
    trials.write()
    for name in (
        "aa seed 2",
        "bb seed 2",
    ):  # killed when some runs are logged, and again when all are
        command = [sys.executable, "-c", DRIVER, store.root, database, name]
        assert (
            subprocess.run(command, capture_output=True, check=False).returncode == -signal.SIGKILL
        )
    for address, seed in names:
        trials.trial(address, seed, "finished", test=20 + seed)
    trials.write(ended=True)
    with Tracker(Tracking(uri=database), store) as tracker, tracker.follow(trials.folder):
        pass
    runs = logged_runs(database)
    assert {run.info.status for run in runs.values()} == {"FINISHED"}
    assert len(runs) == 7
    for name in ("aa seed 1", "aa seed 2", "bb seed 1", "bb seed 2"):
        assert [step for step, _ in curve(database, runs[name], "valid/bleu")] == [50, 100]


@pytest.mark.slow
@pytest.mark.long
def test_a_server_that_starts_late_and_hangs(
    database: str,
    store: Store,
    run: Any,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "3")
    port = closed_port()
    server = serve(database, port, tmp_path)
    try:
        with Tracker(Tracking(uri=f"http://127.0.0.1:{port}", interval=0.2), store) as tracker:
            tracker.start(run.folder)
            with tracker.follow(run.folder):
                run.history(50, 100)
                eventually(lambda: steps(database) == [50, 100], 240)
                os.killpg(server.pid, signal.SIGSTOP)
                run.history(150, 200)
                time.sleep(5.0)  # requests time out; the server processes them when it continues
                assert steps(database) == [50, 100]
                os.killpg(server.pid, signal.SIGCONT)
                eventually(lambda: steps(database) == [50, 100, 150, 200], 120)
            run.scores()
            tracker.finish(run.folder, "FINISHED")
            eventually(lambda: statuses(database)[NAME] == "FINISHED", 120)
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
    assert steps(database) == [50, 100, 150, 200]
    assert logged_runs(database)[NAME].data.metrics["test/test/bleu"] == 31.5
    out, err = capfd.readouterr()
    messages = ["down" if "is unavailable" in line else "up" for line in err.splitlines()]
    assert messages == ["down", "up"] * (len(messages) // 2)
    assert messages
    assert out == ""


def serve(database: str, port: int, directory: Path) -> subprocess.Popen[bytes]:
    server = [
        sys.executable,
        "-m",
        "mlflow",
        "server",
        "--backend-store-uri",
        database,
        "--port",
        str(port),
    ]
    storage = ["--workers", "1", "--artifacts-destination", str(directory / "served")]
    with open(directory / "server.log", "ab") as log:
        return subprocess.Popen(
            [*server, *storage], stdout=log, stderr=log, cwd=directory, start_new_session=True
        )
