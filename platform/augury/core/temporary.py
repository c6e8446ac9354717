"""Temporary directories, which are removed with the process that made them.

Their names have the number of that process, so that `augury gc` finds those of killed ones. The
directory of a local Ray, in which its workers have theirs, is also locked while its process lives:
the next command that starts Ray removes those that nobody holds.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

BEGINNING = "augury-"
"""The beginning of the names of temporary directories, before the number of their process."""
RAY = "ray"
LOCK = ".lock"

_locks: list[IO[str]] = []
"""Files that stay open, and so locked, as long as this process."""


def temporary_directory(purpose: str) -> Path:
    """Return an empty local directory, which is removed when the process ends."""
    directory = _make(purpose)
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


@contextmanager
def scratch(purpose: str) -> Iterator[Path]:
    """Yield an empty local directory, which is removed with what the block leaves in it."""
    directory = _make(purpose)
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def ray_directory() -> Path:
    """Return an empty directory for a local Ray and its workers; remove those of killed
    processes."""
    for abandoned in Path(tempfile.gettempdir()).glob(f"{BEGINNING}[0-9]*-{RAY}-*"):
        if is_abandoned(abandoned):
            shutil.rmtree(abandoned, ignore_errors=True)
    directory = _make(RAY)
    file = (directory / LOCK).open("w")
    fcntl.flock(file, fcntl.LOCK_EX)
    _locks.append(file)
    return directory


def is_abandoned(directory: Path) -> bool:
    """Return whether no process, of this or another container, holds the lock of a directory."""
    try:
        with (directory / LOCK).open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:  # it is held, or is just being made, or is another user's
        return False
    return True


def _make(purpose: str) -> Path:
    return Path(tempfile.mkdtemp(prefix=f"{BEGINNING}{os.getpid()}-{purpose}-"))
