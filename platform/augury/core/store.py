"""A store in which everything is named by the address of what determines it.

A folder is made of files that each appear whole (written under a temporary name, then renamed) and becomes valid
with its completion marker, which is written last. Two makers of one folder write the same bytes to the same names,
and a maker that was killed continues at the first file that is missing. The root is a directory or any URI that
`pyarrow.fs` opens (`s3://`, `gs://`, `hdfs://`).
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import fs

from augury.core.errors import UserError

MARKER = "_COMPLETE"
MANIFEST = "manifest.json"


class Store:
    """The folders under one root."""

    def __init__(self, root: str | Path):
        self.root = str(root) if "://" in str(root) else str(Path(root).expanduser().resolve())
        _open(self.root)

    def folder(self, kind: str, address: str) -> Folder:
        """The folder of what is addressed; it need not exist yet."""
        return Folder(self.root, f"{kind}/{address}")

    def addresses(self, kind: str) -> list[str]:
        """The addresses of a kind that have a folder, complete or not, sorted."""
        return Folder(self.root, kind).subfolders()


@dataclass(frozen=True)
class Folder:
    """One folder of a store; it can be sent to another process or machine."""

    root: str
    name: str
    _cache: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {"root": self.root, "name": self.name, "_cache": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @cached_property
    def _filesystem(self) -> tuple[fs.FileSystem, str]:
        return _open(self.root)

    def path(self, name: str = "") -> str:
        """The path of a file within the store's filesystem."""
        base = self._filesystem[1].rstrip("/")
        return "/".join(part for part in (base, self.name, name) if part)

    @property
    def filesystem(self) -> fs.FileSystem:
        """The filesystem that `path` belongs to."""
        return self._filesystem[0]

    @property
    def uri(self) -> str:
        """Where the folder is, for people."""
        return f"{self.root.rstrip('/')}/{self.name}"

    @property
    def is_local(self) -> bool:
        """Whether the folder lies on a mounted filesystem."""
        return isinstance(self.filesystem, fs.LocalFileSystem)

    def sub(self, name: str) -> Folder:
        """A folder inside this one."""
        return Folder(self.root, f"{self.name}/{name}")

    def exists(self, name: str = "") -> bool:
        """Whether a file (or the folder itself) is there."""
        return bool(self.filesystem.get_file_info(self.path(name)).type != fs.FileType.NotFound)

    def names(self) -> list[str]:
        """The names of the files, sorted; temporary ones left out."""
        return [name for name, kind in self._entries() if kind == fs.FileType.File]

    def subfolders(self) -> list[str]:
        """The names of the folders inside, sorted."""
        return [name for name, kind in self._entries() if kind == fs.FileType.Directory]

    def _entries(self) -> list[tuple[str, fs.FileType]]:
        selector = fs.FileSelector(self.path(), allow_not_found=True)
        entries = self.filesystem.get_file_info(selector)
        return sorted((info.base_name, info.type) for info in entries if not info.base_name.startswith(".tmp-"))

    def read(self, name: str) -> bytes:
        """The bytes of a file."""
        with self.filesystem.open_input_stream(self.path(name), compression=None) as stream:
            return bytes(stream.read())

    def read_json(self, name: str) -> Any:
        """The content of a JSON file."""
        return json.loads(self.read(name))

    def write(self, name: str, content: bytes | str) -> None:
        """Write a whole file; readers see the old one or the new one, never a part."""
        with self.writing(name) as stream:
            stream.write(content.encode() if isinstance(content, str) else content)

    def write_json(self, name: str, value: Any) -> None:
        """Write a JSON file, keys in the order given."""
        self.write(name, json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n")

    @contextmanager
    def writing(self, name: str) -> Iterator[pa.NativeFile]:
        """A stream whose file appears under `name` when the block ends without an error."""
        target = self.path(name)
        parent, _, base = target.rpartition("/")
        if not self.is_local:
            try:
                with self.filesystem.open_output_stream(target, compression=None) as stream:
                    yield stream
            except BaseException:  # closing the stream has published what was written so far
                self.remove(name)
                raise
            return
        os.makedirs(parent, exist_ok=True)
        temporary = f"{parent}/.tmp-{base}-{uuid.uuid4().hex[:8]}"
        try:
            with self.filesystem.open_output_stream(temporary, compression=None) as stream:
                yield stream
            os.replace(temporary, target)
        finally:
            if os.path.exists(temporary):
                os.remove(temporary)

    def remove(self, name: str = "") -> None:
        """Remove a file or a folder, if it is there; a folder does not count from the first moment on."""
        info = self.filesystem.get_file_info(self.path(name))
        if info.type == fs.FileType.Directory:
            self.remove(f"{name}/{MARKER}" if name else MARKER)
            self.filesystem.delete_dir(info.path)
        elif info.type == fs.FileType.File:
            self.filesystem.delete_file(info.path)

    @property
    def complete(self) -> bool:
        """Whether the folder was finished; a folder without its marker does not count."""
        return self.exists(MARKER)

    def finish(self, manifest: dict[str, Any]) -> None:
        """Write the manifest, then the marker."""
        self.write_json(MANIFEST, manifest)
        self.write(MARKER, b"")

    def manifest(self) -> dict[str, Any]:
        """What the folder holds and what it was made from."""
        if not self.complete:
            raise UserError(f"{self.uri} is not complete: the command that makes it was stopped; run it again")
        if "manifest" not in self._cache:
            self._cache["manifest"] = self.read_json(MANIFEST)
        return dict(self._cache["manifest"])

    def local(self) -> Path:
        """A directory on this machine with the folder's files; fetched once per process if the store is remote."""
        if self.is_local:
            return Path(self.path())
        if "local" not in self._cache:
            directory = Path(tempfile.mkdtemp(prefix="augury-"))
            fs.copy_files(
                self.path(),
                str(directory),
                source_filesystem=self.filesystem,
                destination_filesystem=fs.LocalFileSystem(),
            )
            self._cache["local"] = directory
        return Path(self._cache["local"])

    def holds(self, name: str) -> bool:
        """Whether the directory that was `put` under `name` is there, whole."""
        return self.exists(name if self.is_local else f"{name}/{MARKER}")

    def put(self, directory: Path, name: str) -> None:
        """Move a local directory into the folder under `name`; `holds` tells when it is there.

        It appears in one step on a mounted filesystem. Elsewhere files come one by one and a marker last; what had the
        name is gone meanwhile.
        """
        target = self.path(name)
        if self.is_local:
            os.makedirs(self.path(), exist_ok=True)
            temporary = self.path(f".tmp-{name}-{uuid.uuid4().hex[:8]}")
            shutil.move(str(directory), temporary)
            share(Path(temporary))
            if os.path.exists(target):  # out of the way in one step: a killed removal must not leave a part
                os.replace(target, f"{temporary}-old")
            os.replace(temporary, target)
            shutil.rmtree(f"{temporary}-old", ignore_errors=True)
        else:
            self.remove(name)
            (directory / MARKER).unlink(missing_ok=True)  # of a directory that was fetched from such a place
            fs.copy_files(
                str(directory), target, source_filesystem=fs.LocalFileSystem(), destination_filesystem=self.filesystem
            )
            self.sub(name).write(MARKER, b"")
            shutil.rmtree(directory)


def share(directory: Path) -> None:
    """Give a directory, and all in it, the modes that new ones beside it get.

    `tempfile` and safetensors keep what they make to its owner, whatever the umask or the parent's defaults say.
    """
    probe = directory.with_name(f".tmp-modes-{uuid.uuid4().hex[:8]}")
    probe.mkdir()
    mode = stat.S_IMODE(probe.stat().st_mode)
    probe.rmdir()
    for path in (directory, *directory.rglob("*")):
        path.chmod(mode if path.is_dir() else mode & 0o666)


def _open(root: str) -> tuple[fs.FileSystem, str]:
    if "://" not in root:
        path = Path(root)
        if path.exists() and not path.is_dir():
            raise UserError(f"storage '{root}' is a file: give a directory or a URI such as s3://bucket/augury")
        return fs.LocalFileSystem(), str(path)
    try:
        filesystem, path_ = fs.FileSystem.from_uri(root)
    except (pa.ArrowInvalid, OSError) as error:
        raise UserError(
            f"storage '{root}' cannot be opened: {error}; give a directory or a URI pyarrow knows"
        ) from error
    return filesystem, path_
