from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient

from augury.errors import UserError
from augury.store import Store
from augury.tracking.mirror import closed, ledger
from augury.tracking.settings import Tracking
from augury.tracking.tracker import File, Tracker, send_pending


def closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def recorded(uri: str) -> list[Any]:
    client = MlflowClient(uri)
    return list(client.search_runs([client.get_experiment_by_name("augury").experiment_id]))


def steps(uri: str, run: Any) -> list[int]:
    history = MlflowClient(uri).get_metric_history(ledger(run.folder)["run_id"], "train/loss")
    return [point.step for point in history]


def eventually(true: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait for another thread or process."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def train(tracker: Tracker, run: Any, first: int, last: int) -> None:
    with tracker.follow(run.folder):
        run.history(first, last)


def test_a_run_from_start_to_finish(database: str, store: Store, run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    extra = store.folder("vocabularies", "77")
    extra.write("pieces.vocab", "a\n")
    with Tracker(Tracking(uri=database, interval=0.05), store) as tracker:
        tracker.start(run.folder)
        with tracker.follow(run.folder):
            run.history(50, 100)
            eventually(lambda: ledger(run.folder)["sent"] == {"train/loss": 100})
            run.history(150, 200)
        run.scores()
        tracker.finish(run.folder, "FINISHED", [File(extra, "pieces.vocab", "vocabulary")])
    (found,) = recorded(database)
    assert found.info.status == "FINISHED"
    assert found.data.metrics["test/test/bleu"] == 31.5
    assert steps(database, run) == [50, 100, 150, 200]
    client = MlflowClient(database)
    kept = client.list_artifacts(found.info.run_id, "vocabulary")
    assert [entry.path for entry in kept] == ["vocabulary/pieces.vocab"]
    assert capsys.readouterr().err == ""


def test_an_outage_is_told_once_and_made_good(
    database: str, store: Store, run: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    down = Tracking(uri=f"http://someone:secret@127.0.0.1:{closed_port()}", interval=0.05)
    with Tracker(down, store) as tracker:
        tracker.start(run.folder)
        train(tracker, run, 50, 100)
        run.scores()
        tracker.finish(run.folder, "FINISHED")
    told = capsys.readouterr().err
    assert told.count("takes no records ([Errno 111] Connection refused)") == 1
    assert told.count("\n") == 1
    assert f"augury track {store.root}" in told
    assert "secret" not in told
    assert not closed(ledger(run.folder))
    assert send_pending(store, Tracking(uri=database)) == 1
    assert send_pending(store, Tracking(uri=database)) == 0
    (found,) = recorded(database)
    assert found.info.status == "FINISHED"
    assert steps(database, run) == [50, 100]


def test_the_next_command_sends_what_is_left(database: str, store: Store, run: Any) -> None:
    with Tracker(Tracking(uri=f"http://127.0.0.1:{closed_port()}"), store) as tracker:
        tracker.start(run.folder)
        run.history(50, 100)
        tracker.finish(run.folder, "FAILED")
    with Tracker(Tracking(uri=database), store):
        eventually(lambda: closed(ledger(run.folder)))
    assert [found.info.status for found in recorded(database)] == ["FAILED"]
    assert steps(database, run) == [50, 100]


def test_a_stopped_run_continues_as_the_same_run(database: str, store: Store, run: Any) -> None:
    for first, last, status in [(50, 100, "FAILED"), (150, 200, "FINISHED")]:
        with Tracker(Tracking(uri=database, interval=0.05), store) as tracker:
            tracker.start(run.folder)
            train(tracker, run, first, last)
            tracker.finish(run.folder, status)  # type: ignore[arg-type]
    assert [found.info.status for found in recorded(database)] == ["FINISHED"]
    assert steps(database, run) == [50, 100, 150, 200]


def test_one_refused_run_does_not_hold_up_another(
    database: str, store: Store, run: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    run.raw("00000001", {"update": 1})
    good = type(run)(store.folder("runs", "ee/seed-1"))
    with Tracker(Tracking(uri=database), store) as tracker:
        for each in (run, good):
            tracker.start(each.folder)
            tracker.finish(each.folder, "FINISHED")
        eventually(lambda: closed(ledger(good.folder)))
    assert capsys.readouterr().err.count("takes no records") == 1
    with pytest.raises(UserError, match="took 0 runs but not 1.*\n.*seed-3: .*00000001.jsonl is damaged"):
        send_pending(store, Tracking(uri=database))
    run.folder.sub("history").remove("00000001.jsonl")
    assert send_pending(store, Tracking(uri=database)) == 1


def test_sending_to_a_closed_port_says_what_to_do(store: Store, run: Any) -> None:
    with pytest.raises(UserError, match="cannot be opened .* start it, or name another store"):
        send_pending(store, Tracking(uri=f"http://127.0.0.1:{closed_port()}"))


def test_runs_that_were_never_tracked_are_sent(database: str, store: Store, run: Any) -> None:
    run.history(50, 100)
    run.scores()
    run.folder.finish({})
    assert send_pending(store, Tracking(uri=database)) == 1
    (found,) = recorded(database)
    marker = Path(run.folder.path("_COMPLETE")).stat().st_mtime
    assert (found.info.status, found.info.end_time) == ("FINISHED", round(marker * 1000))


def test_a_missing_file_is_told(database: str, store: Store, run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with Tracker(Tracking(uri=database), store) as tracker:
        tracker.start(run.folder)
        tracker.finish(run.folder, "FINISHED", [File(run.folder, "alphabet.json")])
    told = f"{run.folder.uri}/alphabet.json is not there and so not kept with the run in MLflow\n"
    assert capsys.readouterr().err == told
    assert closed(ledger(run.folder))


def test_nothing_is_recorded_where_tracking_is_off(store: Store, run: Any) -> None:
    with Tracker(Tracking(enabled=False), store) as tracker:
        tracker.start(run.folder)
        train(tracker, run, 50, 100)
        tracker.finish(run.folder, "FINISHED")
    assert not run.folder.exists("tracking.json")
    assert not Path(store.root, "mlflow.db").exists()


@pytest.mark.slow
def test_a_server_that_comes_late_and_hangs(
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
                eventually(lambda: ledger(run.folder)["sent"] == {"train/loss": 100}, 120)
                os.killpg(server.pid, signal.SIGSTOP)
                run.history(150, 200)
                time.sleep(8.0)  # requests time out; the server works them off when it goes on
                assert ledger(run.folder)["sent"] == {"train/loss": 100}
                os.killpg(server.pid, signal.SIGCONT)
                eventually(lambda: ledger(run.folder)["sent"] == {"train/loss": 200}, 120)
            run.scores()
            tracker.finish(run.folder, "FINISHED")
            eventually(lambda: closed(ledger(run.folder)), 120)
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
    assert steps(database, run) == [50, 100, 150, 200]
    (found,) = recorded(database)
    assert (found.info.status, found.data.metrics["test/test/bleu"]) == ("FINISHED", 31.5)
    out, err = capfd.readouterr()
    told = ["no" if "takes no records" in line else "again" for line in err.splitlines()]
    assert told == ["no", "again"] * (len(told) // 2)
    assert len(told) >= 4
    assert out == ""


def serve(database: str, port: int, directory: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", database, "--port", str(port),
               "--workers", "1", "--artifacts-destination", str(directory / "served")]  # fmt: skip
    with open(directory / "server.log", "ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, cwd=directory, start_new_session=True)
