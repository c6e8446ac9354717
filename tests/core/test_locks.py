"""Makers of one folder: one makes it, the others wait, a dead one does not block."""

from __future__ import annotations

import errno
import multiprocessing
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from augury.core import locks
from augury.core.locks import locked, make_once
from augury.core.store import Folder, Store

CONTEXT = multiprocessing.get_context("spawn")


def no_locks(*_: Any) -> None:
    """As on a filesystem without locks."""
    raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))


def make(root: str, begun: Any = None, seconds: float = 0.3) -> None:
    """What one of several processes does: make the folder, leaving a mark for every time that it
    is made."""
    folder = Store(root).folder("views", "aa")

    def work() -> None:
        Path(root, f"made-{os.getpid()}").touch()
        if begun is not None:
            begun.set()
        time.sleep(seconds)
        folder.finish({})

    make_once(folder, work)
    assert folder.complete


@pytest.mark.slow
def test_one_process_makes_a_folder_and_another_where_that_is_killed(tmp_path):
    begun = CONTEXT.Event()
    killed = CONTEXT.Process(target=make, args=(str(tmp_path), begun, 60.0))
    killed.start()
    assert begun.wait(60)
    processes = [CONTEXT.Process(target=make, args=(str(tmp_path),)) for _ in range(4)]
    for process in processes:
        process.start()
    killed.kill()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * 4
    assert len(list(tmp_path.glob("made-*"))) == 2


def test_threads_of_a_process_exclude_each_other_too(tmp_path):
    folder, inside, most = Folder(str(tmp_path), "views/aa"), [0], [0]

    def enter() -> None:
        with locked(folder):
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            time.sleep(0.05)
            inside[0] -= 1

    with ThreadPoolExecutor(4) as threads:
        for _ in range(4):
            threads.submit(enter)
    assert most == [1]


def test_a_filesystem_without_locks_is_said_once(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("augury.core.messages._logged", set())
    monkeypatch.setattr(locks.fcntl, "flock", no_locks)
    store = Store(tmp_path)
    for name in ("aa", "bb"):
        with locked(store.folder("views", name)):
            assert not locks.any_held(store)
    assert capsys.readouterr().err.count(f"{tmp_path} does not support locks") == 1


@contextmanager
def not_root() -> Iterator[None]:
    """Run the block as a user to whom permissions apply."""
    user = os.geteuid()
    os.seteuid(user or 65534)  # nobody
    try:
        yield
    finally:
        os.seteuid(user)


@pytest.fixture
def shared() -> Iterator[Path]:
    """A storage with lock files of another user, which are not writable."""
    root = Path(tempfile.mkdtemp())
    (root / locks.LOCKS).mkdir()
    (root / locks.LOCKS / "views-aa").touch(mode=0o444)
    (root / locks.LOCKS).chmod(0o555)
    root.chmod(0o777)
    yield root
    for directory in (root, root / locks.LOCKS):
        directory.chmod(0o755)
    shutil.rmtree(root)


def test_a_storage_of_another_user_is_locked_wherever_a_folder_can_be_built(shared):
    known, further = Folder(str(shared), "views/aa"), Folder(str(shared), "views/bb")
    with not_root(), locked(known):
        assert locks.is_locked(known)
    with not_root(), locked(further):  # without one
        pass
