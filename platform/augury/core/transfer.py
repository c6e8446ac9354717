"""Move and copy files between filesystems: local disks and object stores."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from pyarrow import fs

from augury.core.integrity import CHUNK
from augury.core.retries import retried
from augury.core.temporary import scratch


def copy(source: str, of_source: fs.FileSystem, target: str, of_target: fs.FileSystem) -> None:
    """Copy a file from one filesystem to another."""
    retried(lambda: _copy(source, of_source, target, of_target))


def _copy(source: str, of_source: fs.FileSystem, target: str, of_target: fs.FileSystem) -> None:
    # `fs.copy_files` loses the errors of closing a stream, by which small files are uploaded.
    with of_source.open_input_stream(source, compression=None) as reader:
        writer = of_target.open_output_stream(target, compression=None)
        while chunk := reader.read(CHUNK):
            writer.write(chunk)
        writer.close()


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
        source, destination, message = error.args[0][0]
        number = re.search(r"\[Errno (\d+)\]", message)
        raise OSError(
            int(number[1]) if number else None, message, source, None, destination
        ) from error
