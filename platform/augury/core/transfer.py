"""Move and copy files between filesystems: local disks and object stores."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from pyarrow import fs

from augury.core.retries import retried
from augury.core.temporary import scratch


def copy(source: str, of_source: fs.FileSystem, target: str, of_target: fs.FileSystem) -> None:
    """Copy a file or directory from one filesystem to another."""
    retried(
        lambda: fs.copy_files(
            source, target, source_filesystem=of_source, destination_filesystem=of_target
        )
    )


@contextmanager
def uploading(target: str, filesystem: fs.FileSystem) -> Iterator[pa.NativeFile]:
    """Open a stream to a local file that is uploaded when the block ends without an exception.

    A stream to an object store publishes what it has when it is closed.
    """
    with scratch("upload") as directory:
        file, local = str(directory / "file"), fs.LocalFileSystem()
        with local.open_output_stream(file, compression=None) as stream:
            yield stream
        copy(file, local, target, filesystem)


def move(directory: Path, target: str) -> None:
    """Move a local directory, also to another filesystem; OSError of the first file that fails."""
    try:
        shutil.move(str(directory), target)
    except shutil.Error as error:  # a list of sources, targets and messages
        source, copy, message = error.args[0][0]
        number = re.search(r"\[Errno (\d+)\]", message)
        raise OSError(int(number[1]) if number else None, message, source, None, copy) from error
