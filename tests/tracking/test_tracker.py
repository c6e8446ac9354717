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

from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments.tracking import Tracking
from augury.tracking.ledger import closed, ledger
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


A, B = "aa" * 8, "bb" * 8


def states(uri: str) -> dict[str, tuple[str, str | None]]:
    return {run.info.run_name: (run.info.status, run.data.tags.get("augury.state")) for run in recorded(uri)}


def test_a_sweep_from_start_to_end(
    database: str, store: Store, trials: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    run = trials.trial(B, 1, "running")
    with Tracker(Tracking(uri=database, interval=0.05), store) as tracker:
        run.history(50, 100)
        tracker.update_sweep(trials.load())
        eventually(lambda: ledger(run.folder)["sent"] == {"train/loss": 100})
        run.history(150, 200)
        eventually(lambda: bool(tracker.update_sweep(trials.load()) or ledger(run.folder)["sent"]["train/loss"] == 200))
        trials.trial(B, 1, "finished", 14, 24)
        tracker.update_sweep(trials.load(ended=True), "Beta 5 it is.")
    assert states(database) == {
        "beta": ("FINISHED", None),
        "regime.beta=5": ("FINISHED", "finished"),
        "cipherdaug seed 1": ("FINISHED", "finished"),
    }
    assert steps(database, run) == [50, 100, 150, 200]
    (whole,) = [each for each in recorded(database) if each.info.run_name == "beta"]
    assert whole.data.tags["augury.answer"] == "Beta 5 it is."
    assert ledger(trials.folder)["run_id"] == whole.info.run_id
    assert capsys.readouterr().err == ""
    assert send_pending(store, Tracking(uri=database)) == 0


@pytest.mark.parametrize(("error", "status"), [(None, "KILLED"), (KeyboardInterrupt, "KILLED"), (ValueError, "FAILED")])
def test_a_sweep_that_did_not_come_to_its_end(
    database: str, store: Store, trials: Any, error: type[BaseException] | None, status: str
) -> None:
    trials.trial(B, 1, "running", 14)
    try:
        with Tracker(Tracking(uri=database), store) as tracker:
            tracker.update_sweep(trials.load())
            if error:
                raise error
    except (KeyboardInterrupt, ValueError):
        pass
    left = ("KILLED", "interrupted")
    assert states(database) == {"beta": (status, None), "regime.beta=5": left, "cipherdaug seed 1": left}


def test_an_outage_in_a_sweep_loses_nothing(
    database: str, store: Store, trials: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    down = Tracking(uri=f"http://127.0.0.1:{closed_port()}", interval=0.05)
    run = trials.trial(B, 1, "running", 14)
    with Tracker(down, store) as tracker:
        tracker.update_sweep(trials.load())
        trials.trial(B, 1, "finished", test=24)
        trials.trial(A, 1, "finished", 10, 20).describe(name="plain", address=A, seed=1)
        tracker.update_sweep(trials.load(ended=True), "Beta 5 it is.")
    assert capsys.readouterr().err.count("\n") == 1
    assert not closed(ledger(trials.folder))
    assert send_pending(store, Tracking(uri=database)) == 5
    assert send_pending(store, Tracking(uri=database)) == 0
    assert states(database) == {
        "beta": ("FINISHED", None),
        "regime.beta=5": ("FINISHED", "finished"),
        "baseline": ("FINISHED", "finished"),
        "cipherdaug seed 1": ("FINISHED", "finished"),
        "plain seed 1": ("FINISHED", "finished"),
    }
    whole = {each.info.run_name: each for each in recorded(database)}
    assert whole["beta"].data.tags["augury.answer"] == "Beta 5 it is."
    curve = MlflowClient(database).get_metric_history(ledger(run.folder)["run_id"], "valid/bleu")
    assert [point.value for point in curve] == [7.0, 14.0]


def test_the_next_command_sends_what_is_left_of_a_sweep(database: str, store: Store, trials: Any) -> None:
    trials.trial(B, 1, "finished", 14, 24)
    with Tracker(Tracking(uri=f"http://127.0.0.1:{closed_port()}"), store) as tracker:
        tracker.update_sweep(trials.load(ended=True))
    with Tracker(Tracking(uri=database), store):
        eventually(lambda: closed(ledger(trials.folder)))
    assert states(database)["beta"] == ("FINISHED", None)


@pytest.mark.parametrize(("ended", "status"), [(True, "FAILED"), (False, "RUNNING")])
def test_a_sweep_that_was_never_tracked_is_sent(
    database: str, store: Store, trials: Any, ended: bool, status: str
) -> None:
    trials.trial(B, 1, "failed", 14)
    with Tracker(Tracking(enabled=False), store) as tracker:
        tracker.update_sweep(trials.load(ended))
    assert not trials.folder.exists("tracking.json")
    assert send_pending(store, Tracking(uri=database)) == 3
    assert states(database) == {
        "beta": (status, None),
        "regime.beta=5": (("FAILED", "failed") if ended else ("RUNNING", "running")),
        "cipherdaug seed 1": ("FAILED", "failed"),
    }


def test_a_damaged_run_holds_up_its_sweep_alone(database: str, store: Store, trials: Any, run: Any) -> None:
    trials.trial(A, 1, "finished", 10, 20)
    damaged = trials.trial(B, 1, "finished", 14, 24)
    trials.load(ended=True)
    damaged.raw("00000001", {"update": 1})
    with pytest.raises(UserError, match="took 1 runs but not 1.*\n.*sweeps/beta: .*00000001.jsonl is damaged"):
        send_pending(store, Tracking(uri=database))
    assert states(database) == {"cipherdaug seed 3": ("RUNNING", None)}
    damaged.folder.sub("history").remove("00000001.jsonl")
    assert send_pending(store, Tracking(uri=database)) == 5


DRIVER = """
import os, signal, sys, time
from augury.core.store import Store
from augury.sweeping import state
from augury.tracking.ledger import ledger
from augury.experiments.tracking import Tracking
from augury.tracking.tracker import Tracker

store = Store(sys.argv[1])
with Tracker(Tracking(uri=sys.argv[2], interval=0.01), store) as tracker:
    while True:
        tracker.update_sweep(state.load(store, "beta"))
        if ledger(store.folder("runs", sys.argv[3]))["sent"]:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.001)
"""


@pytest.mark.slow
def test_a_killed_driver_is_taken_up_again(database: str, store: Store, trials: Any) -> None:
    names = [(A, 1), (A, 2), (B, 1), (B, 2)]
    for address, seed in names:
        trials.trial(address, seed, "running", 10 + seed).describe(name=address[:2], address=address, seed=seed)
    trials.load()
    for address, seed in [(A, 2), (B, 2)]:  # killed when some are recorded, and again when all are
        command = [sys.executable, "-c", DRIVER, store.root, database, f"{address}/seed-{seed}"]
        assert subprocess.run(command, capture_output=True, check=False).returncode == -signal.SIGKILL
    for address, seed in names:
        trials.trial(address, seed, "finished", test=20 + seed).describe(name=address[:2], address=address, seed=seed)
    with Tracker(Tracking(uri=database), store) as tracker:
        tracker.update_sweep(trials.load(ended=True))
    finished = ("FINISHED", "finished")
    assert len(recorded(database)) == 7
    assert states(database) == {
        "beta": ("FINISHED", None),
        "baseline": finished,
        "regime.beta=5": finished,
        "aa seed 1": finished,
        "aa seed 2": finished,
        "bb seed 1": finished,
        "bb seed 2": finished,
    }
    for address, seed in names:
        run_id = ledger(store.folder("runs", f"{address}/seed-{seed}"))["run_id"]
        curve = MlflowClient(database).get_metric_history(run_id, "valid/bleu")
        assert [point.step for point in curve] == [50, 100]


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
    command = [
        sys.executable,
        "-m",
        "mlflow",
        "server",
        "--backend-store-uri",
        database,
        "--port",
        str(port),
        "--workers",
        "1",
        "--artifacts-destination",
        str(directory / "served"),
    ]
    with open(directory / "server.log", "ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, cwd=directory, start_new_session=True)
