"""Local directories: temporary ones, and what appears whole under its name."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import stat
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TEMPORARY = ".tmp-"
"""The beginning of the names of files that are being written."""
SCRATCH = "augury-"
"""The beginning of the names of temporary directories, before the number of their process, by which
those of killed ones are found."""


def temporary_directory(purpose: str) -> Path:
    """Return an empty local directory, which is removed when the process ends."""
    directory = Path(tempfile.mkdtemp(prefix=f"{SCRATCH}{os.getpid()}-{purpose}-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


@contextmanager
def scratch(purpose: str) -> Iterator[Path]:
    """Yield an empty local directory, which is removed with what the block leaves in it."""
    with tempfile.TemporaryDirectory(
        prefix=f"{SCRATCH}{os.getpid()}-{purpose}-", ignore_cleanup_errors=True
    ) as directory:
        yield Path(directory)


@functools.cache
def downloads(process: int) -> Path:
    """Return the directory for downloads of a process, this one."""
    return temporary_directory("downloads")


def reset_permissions(directory: Path) -> None:
    """Give a directory and its content the permissions that new files next to it get.

    `tempfile` and safetensors restrict their files to the owner, whatever the umask or the parent's
    defaults.
    """
    probe = directory.with_name(f"{TEMPORARY}modes-{uuid.uuid4().hex[:8]}")
    probe.mkdir()
    mode = stat.S_IMODE(probe.stat().st_mode)
    probe.rmdir()
    for path in (directory, *directory.rglob("*")):
        path.chmod(mode if path.is_dir() else mode & 0o666)
