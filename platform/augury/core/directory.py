"""Files of a folder below a root, on a local disk or an object store.

They appear atomically (written under a temporary name, then renamed). The root is a directory or a
URI that `pyarrow.fs` opens (`s3://`, `gs://`, `hdfs://`). What this process has read of remote
folders or written to them is kept for seconds, or as long as it cannot change.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import field
from functools import cached_property
from typing import Any, Self, TypeVar

import pyarrow as pa
from pyarrow import fs

from augury.core import integrity
from augury.core.frozen import frozen
from augury.core.integrity import Checksum
from augury.core.recent import NEW_SECONDS, Recent
from augury.core.retries import retried
from augury.core.roots import TEMPORARY, check_inside, located, open_root
from augury.core.transfer import uploading

T = TypeVar("T")

THREADS = 8
"""The number of files that are read at once."""

recent = Recent()
"""What this process knows of remote folders."""


@frozen
class Directory:
    """The files of a folder; can be pickled and used on other machines."""

    root: str
    name: str
    _cache: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {"root": self.root, "name": self.name, "_cache": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @cached_property
    def _filesystem(self) -> tuple[fs.FileSystem, str]:
        return open_root(self.root)

    def path(self, name: str = "") -> str:
        """Return the path of a file in the store's filesystem; UserError for one outside."""
        base = self._filesystem[1].rstrip("/")
        check_inside(self.name)
        check_inside(name)
        return "/".join(part for part in (base, self.name, name) if part)

    @property
    def filesystem(self) -> fs.FileSystem:
        """The filesystem of `path`."""
        return self._filesystem[0]

    @property
    def uri(self) -> str:
        """The location of the folder, for messages."""
        return located(self.root, self.name)

    def location(self, name: str) -> str:
        """Return the path or URI of a file, for messages."""
        return located(self.root, f"{self.name}/{name}" if self.name else name)

    @property
    def is_local(self) -> bool:
        """Whether the folder is on a mounted filesystem."""
        return isinstance(self.filesystem, fs.LocalFileSystem)

    def sub(self, name: str) -> Self:
        """Return a subfolder."""
        return type(self)(self.root, f"{self.name}/{name}")

    def exists(self, name: str = "") -> bool:
        """Return whether a file, or by default the folder itself, exists."""
        if recent.file(self._place, name, NEW_SECONDS) is not None:
            return True
        if not name or self.filesystem.type_name != "s3":
            return bool(self.filesystem.get_file_info(self.path(name)).type != fs.FileType.NotFound)
        try:  # `get_file_info` asks a second time, whether it is a directory
            self.filesystem.open_input_stream(self.path(name), compression=None).close()
        except FileNotFoundError:
            return False
        return True

    @property
    def _facts(self) -> dict[str, Any]:
        """What is known of the folder: of a remote one, in the whole process."""
        return self._cache if self.is_local else recent.facts(self._place)

    @property
    def _place(self) -> tuple[str, str]:
        return self.root, self.name

    def names(self) -> list[str]:
        """Return the names of the files except temporary ones, sorted."""
        return [name for name, kind in self._entries() if kind == fs.FileType.File]

    def subfolders(self) -> list[str]:
        """Return the names of the subfolders, sorted."""
        return [name for name, kind in self._entries() if kind == fs.FileType.Directory]

    def times(self, *, below: bool = False) -> dict[str, float]:
        """Return the Unix times of the last modification of the files, with `below` also of those
        of subfolders, which are asked for at once."""
        base = self.path()
        selector = fs.FileSelector(base, allow_not_found=True, recursive=below)
        infos = self.filesystem.get_file_info(selector)
        files = [info for info in infos if info.type == fs.FileType.File]
        return {info.path[len(base) + 1 :]: float(info.mtime.timestamp()) for info in files}

    def _entries(self) -> list[tuple[str, fs.FileType]]:
        selector = fs.FileSelector(self.path(), allow_not_found=True)
        entries = self.filesystem.get_file_info(selector)
        return sorted(
            (info.base_name, info.type)
            for info in entries
            if not info.base_name.startswith(TEMPORARY)
        )

    def _all_files(self) -> list[str]:
        base = self.path()
        infos = self.filesystem.get_file_info(
            fs.FileSelector(base, allow_not_found=True, recursive=True)
        )
        names = [info.path[len(base) + 1 :] for info in infos if info.type == fs.FileType.File]
        return [name for name in names if not f"/{name}".count(f"/{TEMPORARY}")]

    def read(self, name: str) -> bytes:
        """Return the bytes of a file; of a remote one, as they were at most seconds ago."""
        content = recent.file(self._place, name, NEW_SECONDS)
        if content is None:
            content = self.read_now(name)
            self._keep(name, content)
        return content

    def read_now(self, name: str) -> bytes:
        """Return the bytes that a file has now."""

        def read() -> bytes:
            with self.filesystem.open_input_stream(self.path(name), compression=None) as stream:
                return bytes(stream.read())

        return retried(read)

    def _keep(self, name: str, content: bytes) -> None:
        if not self.is_local:
            recent.keep(self._place, name, content)

    def write(self, name: str, content: bytes | str) -> Checksum:
        """Write a file atomically, and return its checksum."""
        data = content.encode() if isinstance(content, str) else content
        with self.writing(name) as stream:
            stream.write(data)
        self._keep(name, data)
        return integrity.checksum([data])

    @contextmanager
    def writing(self, name: str) -> Iterator[pa.NativeFile]:
        """Open a stream to a file that appears under `name` when the block ends without an
        exception."""
        target = self.path(name)
        parent, _, base = target.rpartition("/")
        recent.changed(self._place, name)
        if not self.is_local:
            with uploading(target, self.filesystem) as stream:
                yield stream
            return
        os.makedirs(parent, exist_ok=True)
        temporary = f"{parent}/{TEMPORARY}{base}-{uuid.uuid4().hex[:8]}"
        try:
            with self.filesystem.open_output_stream(temporary, compression=None) as stream:
                yield stream
            os.replace(temporary, target)
        finally:
            if os.path.exists(temporary):
                os.remove(temporary)

    def checksum(self, name: str) -> Checksum:
        """Return the checksum of a file as it is now."""

        def read() -> Checksum:
            with self.filesystem.open_input_stream(self.path(name), compression=None) as stream:
                return integrity.checksum(iter(lambda: stream.read(integrity.CHUNK), b""))

        return retried(read)

    def _map(self, function: Callable[[str], T], names: list[str]) -> list[T]:
        """Return the results of a function that reads files, several at a time where it pays."""
        if self.is_local and len(names) <= THREADS:
            return list(map(function, names))
        with ThreadPoolExecutor(THREADS) as threads:
            return list(threads.map(function, names))
