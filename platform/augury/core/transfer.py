"""Move and copy files between filesystems: local disks and object stores."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from augury.core.filesystem import Filesystem, LocalFilesystem
from augury.core.integrity import CHUNK
from augury.core.retries import retried
from augury.core.temporary import scratch


def copy(source: str, of_source: Filesystem, target: str, of_target: Filesystem) -> None:
    """Copy a file from one filesystem to another."""
    retried(lambda: _copy(source, of_source, target, of_target))


def _copy(source: str, of_source: Filesystem, target: str, of_target: Filesystem) -> None:
    # `pyarrow.fs.copy_files` loses the errors of closing a stream, which uploads small files.
    with of_source.open_input(source) as reader:
        writer = of_target.open_output(target)
        while chunk := reader.read(CHUNK):
            writer.write(chunk)
        writer.close()


@contextmanager
def uploading(target: str, filesystem: Filesystem) -> Iterator[IO[bytes]]:
    """Open a stream to a local file that is uploaded when the block ends without an exception.

    A stream to an object store publishes what it has when it is closed.
    """
    with scratch("upload") as directory:
        file, local = str(directory / "file"), LocalFilesystem()
        with local.open_output(file) as stream:
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
