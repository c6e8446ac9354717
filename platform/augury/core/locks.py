"""Locks on folders of the store, so that one process at a time builds a folder while others wait
for it.

All builders of a folder write the same bytes to the same files: where there are no locks, as on
object stores, two commands at once cost duplicate work, but never a wrong result.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import IO

from augury.core.errors import UserError, is_read_only
from augury.core.messages import say, say_once
from augury.core.store import Folder, Store

LOCKS = ".locks"
UNSUPPORTED = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.EBADF)
"""Error numbers of filesystems without locks; the last is that of NFS for a file of another user.
"""


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
    missing = set[Folder]()
    with ExitStack() as locks:
        for folder in sorted(folders, key=lambda folder: folder.name):
            if usable(folder):
                continue
            locks.enter_context(locked(folder))
            fault = _fault(folder)
            if fault is None:  # another process has made it meanwhile
                continue
            if fault:
                say(f"warning: {fault}: it is made anew")
                folder.remove()
            missing.add(folder)
        yield frozenset(missing)


def usable(folder: Folder) -> bool:
    """Return whether a folder is complete and undamaged; reads all of it, once in a process."""
    return _fault(folder) is None


def _fault(folder: Folder) -> str | None:
    """Return how a complete folder is damaged, an empty text for an incomplete one, and None for
    one that can be used."""
    fault = folder.damage() if folder.complete else ""
    return fault if folder.complete else ""  # another process may have removed it meanwhile


@contextmanager
def locked(folder: Folder) -> Iterator[None]:
    """Hold the lock of a folder; it is released when the process ends, however it ends.

    It is a kernel lock between processes, threads and, if the filesystem supports it, machines.
    What is known of the folder is forgotten before and, unless it is complete, after the block, as
    others may change it then.
    """
    file = _lock_file(folder) if folder.is_local else None
    with file or nullcontext():
        if file and not _try(file, fcntl.LOCK_EX):
            say(f"waiting for another run or command, which makes {folder.uri}")
            fcntl.flock(file, fcntl.LOCK_EX)
        folder.forget()
        try:
            yield
        finally:
            folder.release()


def is_locked(folder: Folder) -> bool:
    """Return whether a process holds the lock of a folder; where there are no locks, False."""
    return folder.is_local and _is_held(_path(folder))


def any_held(store: Store) -> bool:
    """Return whether a process holds any lock of a storage; where there are no locks, False."""
    folder = Folder(store.root, LOCKS)
    return folder.is_local and any(_is_held(folder.path(name)) for name in folder.names())


def _path(folder: Folder) -> str:
    return Folder(folder.root, LOCKS).path(folder.name.replace("/", "-"))


def _is_held(path: str) -> bool:
    """Return whether a process holds the kernel lock on a file."""
    try:
        with open(path) as file:
            return not _try(file, fcntl.LOCK_SH)
    except FileNotFoundError:
        return False


def _try(file: IO[str], kind: int) -> bool:
    """Return whether a kernel lock on a file is to be had at once; True where the filesystem has
    none."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
        say_once(
            f"{Path(file.name).parents[1]} does not support locks ({error.strerror}): two commands "
            "at once may do the same work, with the same result"
        )
    return True


def _lock_file(folder: Folder) -> IO[str] | None:
    """Open the file of a folder's lock; None where this user can make none, and what is finished
    needs none."""
    path = _path(folder)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return open(path, "a")
    except FileNotFoundError as error:  # as below /proc
        raise UserError(f"{folder.root}: no directory can be made there: give another") from error
    except OSError as error:
        if not is_read_only(error):
            raise
        # A lock on the file of another user needs no more.
        return open(path) if os.path.exists(path) else None
