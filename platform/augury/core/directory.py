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
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO, Any, Self, TypeVar

from augury.core import integrity
from augury.core.filesystem import FileInfo, Filesystem
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


@dataclass(frozen=True)
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
    def _filesystem(self) -> tuple[Filesystem, str]:
        return open_root(self.root)

    def path(self, name: str = "") -> str:
        """Return the path of a file in the store's filesystem; UserError for one outside."""
        base = self._filesystem[1].rstrip("/")
        check_inside(self.name)
        check_inside(name)
        return "/".join(part for part in (base, self.name, name) if part)

    @property
    def filesystem(self) -> Filesystem:
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
        return self.filesystem.is_local

    def sub(self, name: str) -> Self:
        """Return a subfolder."""
        return type(self)(self.root, f"{self.name}/{name}")

    def exists(self, name: str = "") -> bool:
        """Return whether a file, or by default the folder itself, exists."""
        if recent.file(self._place, name, NEW_SECONDS) is not None:
            return True
        if not name:
            return self.info() is not None
        return self.filesystem.exists(self.path(name))

    def info(self, name: str = "") -> FileInfo | None:
        """Return what is known of a file, or by default of the folder; None where it is not
        there."""
        return self.filesystem.info(self.path(name))

    @property
    def _facts(self) -> dict[str, Any]:
        """What is known of the folder: of a remote one, in the whole process."""
        return self._cache if self.is_local else recent.facts(self._place)

    @property
    def _place(self) -> tuple[str, str]:
        return self.root, self.name

    def names(self) -> list[str]:
        """Return the names of the files except temporary ones, sorted."""
        return sorted(info.name for info in self._entries() if info.is_file)

    def subfolders(self) -> list[str]:
        """Return the names of the subfolders, sorted."""
        return sorted(info.name for info in self._entries() if info.is_directory)

    def times(self, *, below: bool = False) -> dict[str, float]:
        """Return the Unix times of the last modification of the files, with `below` also of those
        of subfolders, which are asked for at once."""
        files = self.files_with_info(below=below)
        return {name: info.modified or 0.0 for name, info in files.items()}

    def files_with_info(self, *, below: bool = True) -> dict[str, FileInfo]:
        """Return what is known of the files by their names, with `below` also of those of
        subfolders; temporary ones too."""
        infos = self.contents(below=below)
        return {name: info for name, info in infos.items() if info.is_file}

    def contents(self, *, below: bool = True) -> dict[str, FileInfo]:
        """Return what is known of all files and subfolders, in the order of their paths."""
        base = self.path()
        infos = sorted(self.filesystem.listed(base, below=below), key=lambda info: info.path)
        return {info.path[len(base) :].lstrip("/"): info for info in infos}

    def _entries(self) -> list[FileInfo]:
        infos = self.filesystem.listed(self.path())
        return [info for info in infos if not info.name.startswith(TEMPORARY)]

    def _all_files(self) -> list[str]:
        return [name for name in self.files_with_info() if f"/{TEMPORARY}" not in f"/{name}"]

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
            with self.filesystem.open_input(self.path(name)) as stream:
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
    def writing(self, name: str) -> Iterator[IO[bytes]]:
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
            with self.filesystem.open_output(temporary) as stream:
                yield stream
            os.replace(temporary, target)
        finally:
            if os.path.exists(temporary):
                os.remove(temporary)

    def checksum(self, name: str) -> Checksum:
        """Return the checksum of a file as it is now."""

        def read() -> Checksum:
            with self.filesystem.open_input(self.path(name)) as stream:
                return integrity.checksum(iter(lambda: stream.read(integrity.CHUNK), b""))

        return retried(read)

    def _map(self, function: Callable[[str], T], names: list[str]) -> list[T]:
        """Return the results of a function that reads files, several at a time where it pays."""
        if self.is_local and len(names) <= THREADS:
            return list(map(function, names))
        with ThreadPoolExecutor(THREADS) as threads:
            return list(threads.map(function, names))
