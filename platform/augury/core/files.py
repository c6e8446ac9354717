"""The filesystems of storages, by `pyarrow.fs`: mounted disks and object stores."""

from __future__ import annotations

import functools
import os
import socket
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
from pyarrow import fs

from augury.core.errors import UserError, note_storage
from augury.core.paths import expanded

OBJECT_STORES = ("s3", "gcs")
"""pyarrow's names of the filesystems that have buckets."""
FIRST_CONTACT = 6, 10.0
"""Attempts of a request, or seconds for all of them, until a server counts as one that does not
answer. Their distances double from 50 ms."""
PATIENCE = 11, 60.0
"""The same once it has answered: a run outlasts an outage of about a minute."""
LONGEST = 200
"""Bytes of a part of a name, so that temporary names fit into the 255 of most filesystems."""


def check_inside(name: str) -> None:
    """Raise UserError for a name that leads out of the store, or that no filesystem takes.

    Names come from users, and from files of a storage that someone else may have written.
    """
    parts = name.split("/")
    outside = name.startswith("/") or ".." in parts or "." in parts
    if outside or "\0" in name or any(len(part.encode()) > LONGEST for part in parts):
        raise UserError(
            f"{name[:60]!r} cannot be the name of something in a storage: give one of at most "
            f"{LONGEST} bytes between slashes, without '.' and '..' as a part, and not absolute"
        )


def local_root(root: str) -> str:
    """Return the absolute path of a local root; UserError unless its parent is a directory."""
    if not root.strip():
        raise UserError("storage is empty: give a directory or a URI such as s3://bucket/augury")
    path = Path(os.path.realpath(expanded(root)))
    if not path.parent.is_dir():
        raise UserError(
            f"storage '{root}' cannot be opened: there is no directory '{path.parent}'; mount its "
            "disk or create it, or give another storage"
        )
    return str(path)


@functools.cache  # a client of its own for every folder would connect anew for each
def open_root(root: str) -> tuple[fs.FileSystem, str]:
    """Return the filesystem of a root, and the path of the root in it.

    UserError for a root that is none, such as a bucket that does not exist.
    """
    if "://" not in root:
        if os.path.exists(root) and not os.path.isdir(root):
            raise UserError(
                f"storage '{root}' is a file: use a directory or a URI such as s3://bucket/augury"
            )
        note_storage(root)
        return fs.LocalFileSystem(), root
    try:
        filesystem, path = fs.FileSystem.from_uri(root)
        has_buckets, bucket = filesystem.type_name in OBJECT_STORES, path.partition("/")[0]
        if has_buckets and bucket:
            found = _rebuilt(filesystem, *FIRST_CONTACT).get_file_info(bucket)
    except (pa.ArrowInvalid, OSError) as error:
        reason = str(error).partition(" error_info=")[0].splitlines()[0]
        raise UserError(
            f"storage '{root}' cannot be opened from {socket.gethostname()}: {reason}; use a "
            "directory, or a URI that pyarrow supports, with an address, a network and credentials"
        ) from error
    if has_buckets:
        if not bucket or found.type == fs.FileType.NotFound:
            raise UserError(
                f"storage '{root}': there is no bucket '{bucket}': create it, or correct the name"
            )
        filesystem = _rebuilt(filesystem, *PATIENCE)
    elif isinstance(filesystem, fs.LocalFileSystem):
        note_storage(path)
    return filesystem, path


def _rebuilt(filesystem: fs.FileSystem, tries: int, seconds: float) -> fs.FileSystem:
    """Return the filesystem of an object store with other limits of its retries."""
    _, (options,) = filesystem.__reduce__()  # pyarrow's own way to build it again
    if filesystem.type_name == "gcs":
        return fs.GcsFileSystem(**options | {"retry_time_limit": timedelta(seconds=seconds)})
    return fs.S3FileSystem(
        **options | {"allow_delayed_open": True},  # one request for a small file, and not three
        retry_strategy=fs.AwsDefaultS3RetryStrategy(max_attempts=tries),
    )
