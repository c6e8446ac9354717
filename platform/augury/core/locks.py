"""Locks on folders of the store, so that one process at a time builds a folder while others wait
for it.

All builders of a folder write the same bytes to the same files: a lock that fails costs duplicate
work, but never a wrong result.
"""

from __future__ import annotations

import errno
import fcntl
import os
import random
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from augury.core import integrity
from augury.core.integrity import Damaged
from augury.core.outages import is_read_only
from augury.core.periodic import run_every
from augury.core.progress import say, say_once
from augury.core.retries import is_denied
from augury.core.store import MANIFEST, Folder, Store

KIND = ".locks"
UNSUPPORTED = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.EBADF)
"""Error numbers of filesystems without locks; the last is that of NFS for a file of another user.
"""
POLL_SECONDS = 0.2
LEASE_SECONDS = 60.0
"""Age at which a lease that was not renewed is taken to belong to a dead process."""
LOST_LEASES = 10
"""A lease that was not renewed for so many times its length is that of a dead process, whatever
the clocks of machines."""


def make_once(folder: Folder, make: Callable[[], object]) -> bool:
    """Call `make` to build a folder unless it is complete and undamaged; return whether this call
    built it."""
    with lock_incomplete([folder]) as missing:
        if missing:
            make()
    return bool(missing)


@contextmanager
def lock_incomplete(folders: Iterable[Folder]) -> Iterator[frozenset[Folder]]:
    """Lock those folders that are not complete, and yield the ones that still are not once they are
    locked.

    A damaged folder is removed, and is then one of these. Locks are acquired in the order of names,
    which rules out deadlocks.
    """
    folders = list(folders)
    unusable = {folder for folder in folders if not usable(folder)}
    missing = set[Folder]()
    with ExitStack() as locks:
        for folder in sorted(unusable, key=lambda folder: folder.name):
            locks.enter_context(locked(folder))
            if not folder.complete:
                missing.add(folder)
            elif fault := _fault(folder):
                say(f"warning: {folder.described(fault)}: it is made anew")
                folder.remove()
                missing.add(folder)
        yield frozenset(missing)


def usable(folder: Folder) -> bool:
    """Return whether a folder is complete and undamaged; reads all of it, once in a process."""
    # Another process may remove a damaged one while it is read.
    return folder.complete and _fault(folder) is None and folder.complete


def _fault(folder: Folder) -> str | None:
    """Return what is damaged in a complete folder; None where nothing is."""
    return folder.damage() if folder.exists(MANIFEST) else f"{MANIFEST} is missing"


@contextmanager
def locked(folder: Folder) -> Iterator[None]:
    """Hold the lock of a folder; it is released when the process ends, however it ends.

    On mounted filesystems this is a kernel lock, between processes, threads and, if the filesystem
    supports it, machines. Object stores and some network filesystems have no locks: there it is a
    lease that its owner renews, which excludes others unless two processes start within a fraction
    of a second.
    """
    lock = _kernel_lock(folder) if folder.is_local else _lease(folder)
    with lock:
        yield


def is_locked(folder: Folder) -> bool:
    """Return whether a process holds the lock of a folder; a lease counts until it is released."""
    path = Folder(folder.root, KIND).path(folder.name.replace("/", "-"))
    held = _is_held(path) if folder.is_local else None
    return _Lease(folder)._read() is not None if held is None else held


def any_held(store: Store) -> bool:
    """Return whether a process holds any lock of a storage; a lease counts while it is renewed."""
    folder = Folder(store.root, KIND)
    names = folder.names()
    held = [_is_held(folder.path(name)) if folder.is_local else None for name in names]
    if None not in held:
        return any(held)
    renewed = set(names) - set(stale(store, time.time() - LOST_LEASES * LEASE_SECONDS))
    return any(_read_lease(folder, name) for name in sorted(renewed))


def stale(store: Store, before: float) -> list[str]:
    """Return the names of files of locks and leases that no process holds, last written before a
    time in seconds since 1970."""
    folder = Folder(store.root, KIND)
    names = []
    for name in folder.names():
        info = folder.info(name)
        old = info is not None and info.modified is not None and info.modified <= before
        if old and not (folder.is_local and _is_held(folder.path(name))):
            names.append(name)
    return names


def remove_stale(store: Store, name: str) -> bool:
    """Remove the file of a lock unless a process holds it meanwhile; return whether it is
    removed."""
    folder = Folder(store.root, KIND)
    if folder.is_local and _is_held(folder.path(name)):
        return False
    folder.remove(name)
    return True


def _is_held(path: str) -> bool | None:
    """Return whether a process holds the kernel lock on a file; None where the filesystem has no
    such locks."""
    try:
        with open(path) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
        return None
    return False


@contextmanager
def _kernel_lock(folder: Folder) -> Iterator[None]:
    # Yields outside of every `except`: an error of the block would have the caught one as context.
    with ExitStack() as stack:
        if file := _lock_file(folder):
            stack.enter_context(file)
            if not _acquired(file, folder):
                stack.enter_context(_lease(folder))
        yield


def _acquired(file: IO[str], folder: Folder) -> bool:
    """Wait for the kernel lock of a folder on its file; return whether the filesystem has such
    locks."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _log_waiting(folder)
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
        say_once(f"{folder.root} does not support locks ({error.strerror}): using leases instead")
        return False
    return True


def _lock_file(folder: Folder) -> IO[str] | None:
    """Open the file of a folder's lock; None where this process cannot build the folder, and what
    is finished needs no lock."""
    path = Folder(folder.root, KIND).path(folder.name.replace("/", "-"))
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return open(path, "a")  # not "w", which would truncate the lease of another process
    except OSError as error:
        if error.errno == errno.EROFS:
            return None
        if not is_read_only(error):
            raise
        with suppress(OSError):
            return open(path)  # a lock on the file of another user needs no more
        if _is_writable(Path(folder.path())):
            raise
        return None


def _is_writable(path: Path) -> bool:
    """Return whether a directory can be written, or made in its next existing parent."""
    existing = next(place for place in (path, *path.parents) if place.exists())
    return os.access(existing, os.W_OK, effective_ids=True)


@contextmanager
def _lease(folder: Folder, seconds: float = LEASE_SECONDS) -> Iterator[None]:
    lease, denied = _Lease(folder), False
    try:
        lease.acquire(seconds)
    except OSError as error:
        if not is_denied(error):
            raise
        denied = True
    if denied:  # what is finished in a bucket that may only be read needs no lock
        yield
        return
    try:
        with run_every(seconds / 3, lease.write, name=f"lease {folder.name}"):
            yield
    finally:
        lease.release(seconds)


class _Lease:
    """A file with the id of its owner and a counter that the owner increments while it is alive."""

    def __init__(self, target: Folder):
        self.target = target
        self.folder = Folder(target.root, KIND)
        self.name = target.name.replace("/", "-")
        self.owner, self.renewed, self.written = uuid.uuid4().hex, 0, 0.0

    def acquire(self, seconds: float) -> None:
        last, since, waiting = self._read(), time.monotonic(), False
        while last is not None and last[0] != self.owner:
            if not waiting:
                _log_waiting(self.target)
            waiting = True
            time.sleep(min(POLL_SECONDS, seconds / 8))
            lease = self._read()
            if lease != last:
                last, since = lease, time.monotonic()
            elif time.monotonic() - since > seconds:
                break
        start = time.monotonic()
        self.write()
        # The last writer wins. One that saw no lease either has written by then, as fast or slow.
        wait = max(min(POLL_SECONDS, seconds / 8), 4 * (time.monotonic() - start))
        time.sleep(random.uniform(0.5, 1.0) * wait)
        lease = self._read()
        if lease is None or lease[0] != self.owner:
            self.acquire(seconds)

    def write(self) -> None:
        self.renewed, start = self.renewed + 1, time.monotonic()
        self.folder.write_json(self.name, {"owner": self.owner, "renewed": self.renewed})
        self.written = start

    def release(self, seconds: float) -> None:
        """Say that nobody holds the lease, which takes a quarter of the requests of removing it."""
        recent = time.monotonic() - self.written < seconds  # nobody can have taken it over since
        lease = None if recent else self._read()
        if recent or (lease is not None and lease[0] == self.owner):
            self.folder.write_json(self.name, {"owner": None, "renewed": self.renewed})

    def _read(self) -> tuple[str, int] | None:
        return _read_lease(self.folder, self.name)


def _read_lease(folder: Folder, name: str) -> tuple[str, int] | None:
    """Return owner and counter of a lease; None if there is none, if it was released, or if its
    file is just being replaced."""
    try:
        content = integrity.parse(folder.read_now(name), name)
    except (FileNotFoundError, Damaged):
        return None
    return (content["owner"], content["renewed"]) if content["owner"] else None


def _log_waiting(folder: Folder) -> None:
    say(f"waiting for another run or command, which makes {folder.uri}")
