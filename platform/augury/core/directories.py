"""Local directories and files: temporary ones, and what appears whole under its name."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

TEMPORARY = ".tmp-"
"""The beginning of the names of files that are being written."""


def temporary_directory(purpose: str) -> Path:
    """Return an empty local directory, which is removed when the process ends."""
    directory = Path(tempfile.mkdtemp(prefix=f"augury-{os.getpid()}-{purpose}-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


@contextmanager
def scratch(purpose: str) -> Iterator[Path]:
    """Yield an empty local directory, which is removed with what the block leaves in it."""
    with tempfile.TemporaryDirectory(
        prefix=f"augury-{os.getpid()}-{purpose}-", ignore_cleanup_errors=True
    ) as directory:
        yield Path(directory)


@functools.cache
def downloads(process: int) -> Path:
    """Return the directory for downloads of a process, this one."""
    return temporary_directory("downloads")


@contextmanager
def appearing(target: Path) -> Iterator[IO[bytes]]:
    """Open a file that appears under its path when the block ends without an exception."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f"{TEMPORARY}{target.name}-{uuid.uuid4().hex[:8]}")
    try:
        with temporary.open("wb") as file:
            yield file
        temporary.replace(target)
    except OSError as error:
        if error.errno:  # a full disk names no file; errors of object stores are texts alone
            error.filename = error.filename or str(target)
        raise
    finally:
        temporary.unlink(missing_ok=True)


def reset_permissions(directory: Path) -> None:
    """Give the files of a directory its own permissions, but those to run and list: safetensors
    restricts its own to their owner."""
    mode = directory.stat().st_mode & 0o666
    for path in directory.rglob("*"):
        if path.is_file():
            path.chmod(mode)
