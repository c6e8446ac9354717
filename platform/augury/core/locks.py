"""One maker at a time: whoever else needs the same folder waits and then finds it made.

Makers of one folder write equal bytes to equal names, so a lock that fails costs double work and never a wrong result.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import random
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager

from augury.core.periodic import every
from augury.core.progress import say, say_once
from augury.core.store import Folder

KIND = ".locks"
UNSUPPORTED = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)
"""What a filesystem without locks answers."""
POLL_SECONDS = 0.2
LEASE_SECONDS = 60.0
"""A lease that its owner has not renewed for so long belongs to a process that is dead."""


def make_once(folder: Folder, make: Callable[[], object]) -> bool:
    """Make a folder unless it is complete; whether this call made it. Other makers wait meanwhile."""
    with making([folder]) as missing:
        if missing:
            make()
    return bool(missing)


@contextmanager
def making(folders: Iterable[Folder]) -> Iterator[frozenset[Folder]]:
    """Hold the locks of those folders that are not complete; yields the ones to be made.

    Locks are taken in the order of names, so that two makers of several folders never wait for each other.
    """
    with ExitStack() as locks:
        for folder in sorted({folder for folder in folders if not folder.complete}, key=lambda folder: folder.name):
            locks.enter_context(alone(folder))
        yield frozenset(folder for folder in folders if not folder.complete)


@contextmanager
def alone(folder: Folder) -> Iterator[None]:
    """Hold the lock of a folder; it is released when the process ends, however it ends.

    On a mounted filesystem the kernel keeps the lock, between processes, threads and, where the filesystem supports
    it, machines. An object store has no locks, nor have some network filesystems: there a lease is written and
    renewed, which is as good unless two makers start within a fraction of a second.
    """
    lock = _kernel(folder) if folder.is_local else _lease(folder)
    with lock:
        yield


@contextmanager
def _kernel(folder: Folder) -> Iterator[None]:
    path = Folder(folder.root, KIND).path(folder.name.replace("/", "-"))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "a") as file, ExitStack() as held:  # not "w", which would empty the lease of another process
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say_waiting(folder)
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in UNSUPPORTED:
                raise
            say_once(f"{folder.root} cannot be locked ({error.strerror}): leases keep processes apart instead")
            held.enter_context(_lease(folder))
        yield


@contextmanager
def _lease(folder: Folder, seconds: float = LEASE_SECONDS) -> Iterator[None]:
    lease = _Lease(folder)
    lease.acquire(seconds)
    try:
        with every(seconds / 4, lease.write, name=f"lease {folder.name}"):
            yield
    finally:
        lease.release()


class _Lease:
    """A file that names its owner and changes as long as the owner lives."""

    def __init__(self, folder: Folder):
        self.wanted, self.folder, self.name = folder, Folder(folder.root, KIND), folder.name.replace("/", "-")
        self.owner, self.renewed = uuid.uuid4().hex, 0

    def acquire(self, seconds: float) -> None:
        seen, since, waiting = self._read(), time.monotonic(), False
        while seen is not None and seen[0] != self.owner:
            if not waiting:
                _say_waiting(self.wanted)
            waiting = True
            time.sleep(min(POLL_SECONDS, seconds / 8))
            lease = self._read()
            if lease != seen:
                seen, since = lease, time.monotonic()
            elif time.monotonic() - since > seconds:
                break
        self.write()
        time.sleep(random.uniform(0.5, 1.0) * min(POLL_SECONDS, seconds / 8))  # whoever wrote last has it
        lease = self._read()
        if lease is None or lease[0] != self.owner:
            self.acquire(seconds)

    def write(self) -> None:
        self.renewed += 1
        self.folder.write_json(self.name, {"owner": self.owner, "renewed": self.renewed})

    def release(self) -> None:
        lease = self._read()
        if lease is not None and lease[0] == self.owner:
            self.folder.remove(self.name)

    def _read(self) -> tuple[str, int] | None:
        """Owner and count of renewals; None where nobody holds it or its file is just being replaced."""
        try:
            content = self.folder.read_json(self.name)
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        return content["owner"], content["renewed"]


def _say_waiting(folder: Folder) -> None:
    say(f"another process makes {folder.uri}: waiting for it")
