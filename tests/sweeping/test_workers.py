"""The processes of the local executor: how they start and end."""

from __future__ import annotations

import signal
from multiprocessing import Pipe

import pytest

from augury.sweeping import workers
from augury.sweeping.local_executor import _Slot
from augury.sweeping.workers import Workers, early_imports


@pytest.fixture(params=[True, False], ids=["copies", "each imports"])
def started(request, tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "_can_copy", lambda: request.param)
    pool = Workers([], tmp_path, 1)
    yield pool
    pool.close()


@pytest.mark.slow
def test_a_worker_ends_with_the_connection_of_the_command(started, tmp_path):
    ours, theirs = Pipe()
    with theirs:
        worker = started.start(theirs.fileno(), tmp_path / "1.log")
    assert worker.poll() is None
    ours.close()
    assert worker.wait(60) == 0


@pytest.mark.slow
def test_a_worker_says_how_it_was_killed(started, tmp_path):
    ours, theirs = Pipe()
    with ours, theirs:
        worker = started.start(theirs.fileno(), tmp_path / "1.log")
        worker.kill()
        assert (worker.wait(), worker.poll()) == (-signal.SIGKILL, -signal.SIGKILL)


@pytest.mark.slow
def test_a_server_that_was_killed_is_started_again(tmp_path):
    pool = Workers([], tmp_path, 1)
    ours, theirs = Pipe()
    with ours, theirs:
        first = pool.start(theirs.fileno(), tmp_path / "1.log")
        pool.server.process.kill()
        pool.server.process.wait()
        second = pool.start(theirs.fileno(), tmp_path / "2.log")
        assert second.poll() is None and first.pid != second.pid
    assert (second.wait(60), first.wait(60)) == (0, workers.UNKNOWN)
    pool.close()


@pytest.mark.slow
def test_what_others_are_copied_from_can_fail(tmp_path):
    pool = Workers([], tmp_path, 1)
    ours, theirs = Pipe()
    with ours, theirs:
        worker = pool.start(theirs.fileno(), tmp_path / "no folder" / "1.log")
        assert worker.wait(60) not in (0, None)
    assert "FileNotFoundError" in (tmp_path / workers.SERVER_LOG).read_text()
    pool.close()


def test_a_trial_that_is_interrupted_while_it_reports_is_answered(tmp_path):
    """Otherwise it would wait for the answer until it is killed."""
    slot = _Slot(tmp_path / "1.log", Workers([], tmp_path, 1))
    slot.connection, trial = Pipe()
    trial.send({"validation": 1})
    assert slot.let_end() and trial.recv() == "CONTINUE"
    trial.send(None)
    assert not slot.let_end() and not trial.poll()
    trial.close()
    assert not slot.let_end()
    slot.connection.close()


@pytest.mark.slow
def test_workers_go_on_with_what_was_begun_early(tmp_path):
    ours, theirs = Pipe()
    with ours, theirs, early_imports():
        (early,) = workers._early
        pool = Workers([], tmp_path, workers.EARLY_THREADS)
        worker = pool.start(theirs.fileno(), tmp_path / "1.log")
        assert pool.server is early
    assert worker.poll() is None  # the end of the block leaves it alone
    pool.close()
    worker.kill()


def test_early_imports_end_where_no_workers_take_them(tmp_path):
    with early_imports():
        (early,) = workers._early
        pool = Workers([], tmp_path, workers.EARLY_THREADS + 1)
        pool.warm_up()
        assert pool.server is not early and not early.alive
        pool.close()
