"""Filesystems that are not mounted, such as object stores, by `pyarrow.fs`."""

from __future__ import annotations

import functools
import socket
from datetime import timedelta
from typing import Any

import pyarrow as pa
from pyarrow import fs

from augury.core.errors import UserError
from augury.core.filesystem import FileInfo, Filesystem, LocalFilesystem

OBJECT_STORES = ("s3", "gcs")
"""pyarrow's names of the filesystems that have buckets."""
FIRST_CONTACT = 6, 10.0
"""Attempts of a request, or seconds for all of them, until a server counts as one that does not
answer. Their distances double from 50 ms."""
OUTAGE = 11, 60.0
"""The same once it has answered: a run outlasts an outage of about a minute."""


class RemoteFilesystem:
    """A filesystem of `pyarrow.fs`."""

    is_local = False

    def __init__(self, filesystem: fs.FileSystem):
        self.filesystem = filesystem

    def info(self, path: str) -> FileInfo | None:
        """Return what is at a path; None where nothing is."""
        info = self.filesystem.get_file_info(path)
        return None if info.type == fs.FileType.NotFound else _info(info)

    def exists(self, path: str) -> bool:
        """Return whether anything is at a path, on S3 a file."""
        if self.filesystem.type_name != "s3":
            return self.info(path) is not None
        try:  # `get_file_info` asks a second time, whether it is a directory
            self.open_input(path).close()
        except FileNotFoundError:
            return False
        return True

    def listed(self, path: str, *, below: bool = False) -> list[FileInfo]:
        """Return what is in a directory, in no order, which is asked for at once."""
        selector = fs.FileSelector(path, allow_not_found=True, recursive=below)
        return [_info(info) for info in self.filesystem.get_file_info(selector)]

    def open_input(self, path: str) -> Any:
        """Open a stream to read a file from its beginning."""
        return self.filesystem.open_input_stream(path, compression=None)

    def open_file(self, path: str) -> Any:
        """Open a file to read anywhere in it."""
        return self.filesystem.open_input_file(path)

    def open_output(self, path: str) -> Any:
        """Open a stream to a file; on an object store it is there once that is closed."""
        return self.filesystem.open_output_stream(path, compression=None)

    def remove_file(self, path: str) -> None:
        """Remove a file."""
        self.filesystem.delete_file(path)

    def remove_directory(self, path: str) -> None:
        """Remove a directory with all that is in it."""
        self.filesystem.delete_dir(path)


def _info(info: fs.FileInfo) -> FileInfo:
    is_file, is_directory = info.type == fs.FileType.File, info.type == fs.FileType.Directory
    return FileInfo(info.path, is_file, is_directory, info.size or 0, info.mtime_ns)


@functools.cache  # a client of its own for every folder would connect anew for each
def open_uri(root: str) -> tuple[Filesystem, str]:
    """Return the filesystem of a URI, and the path of the root in it; UserError for one that cannot
    be opened, or a bucket that does not exist."""
    try:
        filesystem, path = fs.FileSystem.from_uri(root)
    except (pa.ArrowInvalid, OSError) as error:
        raise UserError(
            f"storage '{root}' cannot be opened: {str(error).splitlines()[0]}; use a directory or "
            "a URI that pyarrow supports"
        ) from error
    if isinstance(filesystem, fs.LocalFileSystem):  # file://
        return LocalFilesystem(), path
    _require_bucket(root, filesystem, path)
    return RemoteFilesystem(_rebuilt(filesystem, *OUTAGE)), path


def _require_bucket(root: str, filesystem: fs.FileSystem, path: str) -> None:
    """Raise UserError where the server of an object store does not answer, or has no such
    bucket."""
    if filesystem.type_name not in OBJECT_STORES:
        return
    bucket = path.partition("/")[0]
    if not bucket:
        raise UserError(f"storage '{root}' names no bucket: write s3://BUCKET/NAME")
    try:
        info = _rebuilt(filesystem, *FIRST_CONTACT).get_file_info(bucket)
    except OSError as error:
        reason = str(error).partition(" error_info=")[0].splitlines()[0]
        raise UserError(
            f"storage '{root}' cannot be reached from {socket.gethostname()}: {reason}; check the "
            "address, the network, and the credentials on this machine"
        ) from error
    if info.type == fs.FileType.NotFound:
        raise UserError(
            f"storage '{root}': there is no bucket '{bucket}': create it, or correct the name"
        )


def _rebuilt(filesystem: fs.FileSystem, tries: int, seconds: float) -> fs.FileSystem:
    """Return the filesystem of an object store with other limits of its retries; others are
    returned as they are."""
    if filesystem.type_name not in OBJECT_STORES:
        return filesystem
    _, (options,) = filesystem.__reduce__()  # pyarrow's own way to build it again
    if filesystem.type_name == "gcs":
        return fs.GcsFileSystem(**options | {"retry_time_limit": timedelta(seconds=seconds)})
    return fs.S3FileSystem(
        **options | {"allow_delayed_open": True},  # one request for a small file, and not three
        retry_strategy=fs.AwsDefaultS3RetryStrategy(max_attempts=tries),
    )
