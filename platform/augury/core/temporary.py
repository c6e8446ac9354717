"""Temporary directories, which are removed with the process that made them.

Their names have the number of that process, so that `augury gc` finds those of killed ones.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BEGINNING = "augury-"
"""The beginning of the names of temporary directories, before the number of their process."""


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


def _make(purpose: str) -> Path:
    return Path(tempfile.mkdtemp(prefix=f"{BEGINNING}{os.getpid()}-{purpose}-"))
