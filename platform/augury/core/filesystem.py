"""What a storage asks of a filesystem, and the filesystem of this machine.

Here files are read and written by Python itself: a command that reads no table needs no Arrow,
whose import takes a third of the time of a short command. Object stores are in
`remote_filesystem`.
"""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import dataclass
from typing import IO, Any, Protocol


@dataclass(frozen=True)
class FileInfo:
    """A file or directory; neither for a socket or the like."""

    path: str
    is_file: bool
    is_directory: bool
    size: int
    """Bytes; 0 for a directory."""
    modified_ns: int | None
    """When it was last changed, in nanoseconds since 1970; None where that is not known."""

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def modified(self) -> float | None:
        """When it was last changed, in seconds since 1970."""
        return None if self.modified_ns is None else self.modified_ns / 1e9


class Filesystem(Protocol):
    """Files by their paths; FileNotFoundError for one that is not there."""

    is_local: bool

    def info(self, path: str) -> FileInfo | None:
        """Return what is at a path; None where nothing is."""

    def exists(self, path: str) -> bool:
        """Return whether anything is at a path, a file on an object store."""

    def listed(self, path: str, *, below: bool = False) -> list[FileInfo]:
        """Return what is in a directory, and with `below` in those in it; nothing where it is not
        there."""

    def open_input(self, path: str) -> Any:
        """Open a stream to read a file from its beginning."""

    def open_file(self, path: str) -> Any:
        """Open a file to read anywhere in it."""

    def open_output(self, path: str) -> Any:
        """Open a stream to a file; on an object store it is there once that is closed."""

    def remove_file(self, path: str) -> None:
        """Remove a file."""

    def remove_directory(self, path: str) -> None:
        """Remove a directory with all that is in it."""


class LocalFilesystem:
    """The mounted disks of this machine."""

    is_local = True

    def info(self, path: str) -> FileInfo | None:
        """Return what is at a path, or at the end of a link; None where nothing is."""
        try:
            return _info(path, os.stat(path))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def exists(self, path: str) -> bool:
        """Return whether anything is at a path."""
        return self.info(path) is not None

    def listed(self, path: str, *, below: bool = False) -> list[FileInfo]:
        """Return what is in a directory, in no order; what is removed meanwhile is left out."""
        infos: list[FileInfo] = []
        waiting = [path]
        while waiting:
            try:
                names = os.listdir(waiting[-1])
            except FileNotFoundError:
                names = []
            directory = waiting.pop()
            inside = filter(None, (self.info(f"{directory}/{name}") for name in names))
            for info in inside:
                infos.append(info)
                if below and info.is_directory:
                    waiting.append(info.path)
        return infos

    def open_input(self, path: str) -> IO[bytes]:
        """Open a stream to read a file from its beginning."""
        return open(path, "rb")

    def open_file(self, path: str) -> IO[bytes]:
        """Open a file to read anywhere in it."""
        return open(path, "rb")

    def open_output(self, path: str) -> IO[bytes]:
        """Open a stream to a file, which is there from now on."""
        return open(path, "wb")

    def remove_file(self, path: str) -> None:
        """Remove a file."""
        os.remove(path)

    def remove_directory(self, path: str) -> None:
        """Remove a directory with all that is in it, though another process removes it too."""
        if os.path.islink(path):
            os.remove(path)
        else:
            shutil.rmtree(path, onerror=_raise_unless_removed)


def _raise_unless_removed(_function: Any, _path: str, error: Any) -> None:
    if not issubclass(error[0], FileNotFoundError):
        raise error[1]


def _info(path: str, status: os.stat_result) -> FileInfo:
    is_directory = stat.S_ISDIR(status.st_mode)
    size = 0 if is_directory else status.st_size
    return FileInfo(path, stat.S_ISREG(status.st_mode), is_directory, size, status.st_mtime_ns)
