"""The files of a folder on a mounted disk or an object store, by `pyarrow.fs`: they appear whole or
not at all, and names do not lead out of the storage."""

from __future__ import annotations

import functools
import os
import shutil
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

import pyarrow as pa
from pyarrow import fs

from augury.core.directories import TEMPORARY, scratch
from augury.core.errors import UserError, note_storage
from augury.core.integrity import CHUNK
from augury.core.paths import expanded

T = TypeVar("T")

OBJECT_STORES = ("s3", "gcs")
"""pyarrow's names of the filesystems that have buckets."""
FIRST_CONTACT = 6, 10.0
"""Attempts of a request, or seconds for all of them, until a server counts as one that does not
answer. Their distances double from 50 ms."""
PATIENCE = 11, 60.0
"""The same once it has answered: a run outlasts an outage of about a minute."""
LONGEST = 200
"""Bytes of a part of a name, so that temporary names fit into the 255 of most filesystems."""


class FileInfo(NamedTuple):
    """What is known of a file or subfolder."""

    is_file: bool
    size: int
    """Bytes; 0 for a folder."""
    modified: float
    """When it was last changed, in seconds since 1970; 0 where that is not known."""


@dataclass(frozen=True)
class Files:
    """The files below a folder of a storage, which can be pickled and used on other machines."""

    root: str
    name: str

    def path(self, name: str = "") -> str:
        """Return the path of a file in the store's filesystem; UserError for one outside."""
        base = open_root(self.root)[1].rstrip("/")
        for part in (self.name, name):
            _check_inside(part)
        return "/".join(filter(None, (base, self.name, name)))

    @property
    def filesystem(self) -> fs.FileSystem:
        """The filesystem of `path`."""
        return open_root(self.root)[0]

    @property
    def is_local(self) -> bool:
        """Whether the folder is on a mounted disk."""
        return isinstance(self.filesystem, fs.LocalFileSystem)

    @property
    def uri(self) -> str:
        """The location of the folder, for messages."""
        return located(self.root, self.name)

    def location(self, name: str) -> str:
        """Return the path or URI of a file, for messages."""
        return located(self.root, f"{self.name}/{name}" if self.name else name)

    def exists(self, name: str = "") -> bool:
        """Return whether a file, or by default the folder, is there."""
        if not name or self.filesystem.type_name not in OBJECT_STORES:
            return self.info(name) is not None
        try:  # `get_file_info` asks a second time, whether it is a directory
            self.filesystem.open_input_stream(self.path(name), compression=None).close()
        except FileNotFoundError:
            return False
        return True

    def info(self, name: str = "") -> FileInfo | None:
        """Return what is known of a file, or by default of the folder; None where it is not
        there."""
        info = self.filesystem.get_file_info(self.path(name))
        return None if info.type == fs.FileType.NotFound else _told(info)

    def contents(self, *, below: bool = True) -> dict[str, FileInfo]:
        """Return what is known of the files and subfolders, by their names in order, with `below`
        also of those in them; temporary ones too."""
        base = self.path()
        selector = fs.FileSelector(base, allow_not_found=True, recursive=below)
        infos = self.filesystem.get_file_info(selector)
        return {path[len(base) :].lstrip("/"): of for path, of in sorted(map(_named, infos))}

    def names(self) -> list[str]:
        """Return the names of the files except temporary ones, sorted."""
        return [name for name, info in self._lasting() if info.is_file]

    def subfolders(self) -> list[str]:
        """Return the names of the subfolders, sorted."""
        return [name for name, info in self._lasting() if not info.is_file]

    def _lasting(self) -> list[tuple[str, FileInfo]]:
        found = self.contents(below=False).items()
        return [(name, info) for name, info in found if not name.startswith(TEMPORARY)]

    def streamed(self, name: str, use: Callable[[Any], T]) -> T:
        """Return what a function of a stream of a file returns.

        It is called again where a busy object store answers with a page that is longer than a small
        file, which pyarrow does not repeat.
        """
        for attempt in range(PATIENCE[0]):
            try:
                with self.filesystem.open_input_stream(self.path(name), compression=None) as stream:
                    return use(stream)
            except OSError as error:
                if "flush response stream" not in str(error) or attempt == PATIENCE[0] - 1:
                    raise
            time.sleep(0.05 * 2**attempt)
        raise AssertionError("the last attempt returns or raises")

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """Open a stream to a file that appears under `name` when the block ends without an
        exception."""
        target = self.path(name)
        if not self.is_local:
            with scratch("upload") as directory:
                with (directory / "file").open("wb") as file:
                    yield file
                self.upload(directory / "file", name)
            return
        parent, _, base = target.rpartition("/")
        os.makedirs(parent, exist_ok=True)
        temporary = f"{parent}/{TEMPORARY}{base}-{uuid.uuid4().hex[:8]}"
        try:
            with open(temporary, "wb") as file:
                yield file
            os.replace(temporary, target)
        except OSError as error:
            error.filename = error.filename or target  # a full disk has none
            raise
        finally:
            if os.path.exists(temporary):
                os.remove(temporary)

    def upload(self, file: Path, name: str) -> None:
        """Publish a local file, which has all of its content: what is half written to a stream of
        Arrow is published too, when that is forgotten."""
        with file.open("rb") as source:
            stream = self.filesystem.open_output_stream(self.path(name), compression=None)
            shutil.copyfileobj(source, stream, CHUNK)
            stream.close()

    @property
    def link(self) -> str | None:
        """The path of the link that the folder, or one that it is in, is; None where there is none.

        The folder of a kind may be a link to a larger disk, and is a folder for all that.
        """
        if not self.is_local:
            return None
        parts = self.name.split("/")
        places = ("/".join(parts[:count]) for count in range(2, len(parts) + 1))
        paths = (Files(self.root, place).path() for place in places)
        return next(filter(os.path.islink, paths), None)


def _told(info: fs.FileInfo) -> FileInfo:
    return FileInfo(info.is_file, info.size or 0, (info.mtime_ns or 0) / 1e9)


def _named(info: fs.FileInfo) -> tuple[str, FileInfo]:
    return info.path, _told(info)


def _check_inside(name: str) -> None:
    """Raise UserError for a name that leads out of the store, or that no filesystem takes.

    Names come from users, and from files of a storage that someone else may have written.
    """
    parts = name.split("/")
    outside = name.startswith("/") or ".." in parts or "." in parts
    if outside or "\0" in name or any(len(part.encode()) > LONGEST for part in parts):
        shown = f"{name[:60]}…" if len(name) > 60 else name
        raise UserError(
            f"{shown!r} cannot be the name of something in a storage: give one of at most "
            f"{LONGEST} bytes between slashes, without '.' and '..' as a part, and not absolute"
        )


def located(root: str, name: str) -> str:
    """Return the path or URI of something below a root; the query of a URI stays last."""
    if not name:
        return root
    place, mark, query = root.partition("?") if "://" in root else (root, "", "")
    return f"{place.rstrip('/')}/{name}{mark}{query}"


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
    except (pa.ArrowInvalid, OSError) as error:
        raise UserError(
            f"storage '{root}' cannot be opened: {str(error).splitlines()[0]}; use a directory or "
            "a URI that pyarrow supports"
        ) from error
    if filesystem.type_name in OBJECT_STORES:
        _require_bucket(root, filesystem, path.partition("/")[0])
        filesystem = _rebuilt(filesystem, *PATIENCE)
    elif isinstance(filesystem, fs.LocalFileSystem):
        note_storage(path)
    return filesystem, path


def _require_bucket(root: str, filesystem: fs.FileSystem, bucket: str) -> None:
    """Raise UserError where the server of an object store does not answer, or has no such
    bucket."""
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
    """Return the filesystem of an object store with other limits of its retries."""
    _, (options,) = filesystem.__reduce__()  # pyarrow's own way to build it again
    if filesystem.type_name == "gcs":
        return fs.GcsFileSystem(**options | {"retry_time_limit": timedelta(seconds=seconds)})
    return fs.S3FileSystem(
        **options | {"allow_delayed_open": True},  # one request for a small file, and not three
        retry_strategy=fs.AwsDefaultS3RetryStrategy(max_attempts=tries),
    )
