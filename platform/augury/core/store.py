"""Content-addressed store of folders: what makes one complete, and how damage is found.

A folder is complete once its manifest is there, which is written last. All builders of a folder
write the same bytes to the same files, and a build that was killed resumes at the first missing
file. The manifest has checksums of the files, by which damage is found before they are used.

Of remote folders a process keeps copies for as long as it lives: of what it has written, and of
what it has read of complete ones.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeVar

from pyarrow import fs

from augury.core import files, integrity
from augury.core.directories import TEMPORARY, appearing, downloads
from augury.core.errors import UserError
from augury.core.integrity import CHUNK, OTHERS, Checksum, Damaged, checksums
from augury.core.messages import say
from augury.core.secrets import redacted_values

T = TypeVar("T")

MANIFEST = "manifest.json"
SCHEMA = 2
"""The version of the form of stored folders and records; others are refused."""
SMALL = 8 << 20
"""Bytes up to which a copy is kept of what is written to an object store."""
THREADS = 8
"""The number of files that are read at once."""


class Store:
    """The folders below a root."""

    def __init__(self, root: str | Path):
        """Open a store, whose directory may not exist yet.

        UserError for a root that cannot be one, such as a directory on a disk that is not there.
        """
        self.root = str(root) if "://" in str(root) else files.local_root(str(root))
        files.open_root(self.root)

    @classmethod
    def existing(cls, root: str | Path) -> Store:
        """Open a store; UserError for a directory that does not exist."""
        store = cls(root)
        if "://" not in store.root and not Path(store.root).is_dir():
            raise UserError(f"there is no storage '{root}': give the directory or URI of runs")
        return store

    def folder(self, kind: str, address: str) -> Folder:
        """Return the folder of an address, whether it exists or not."""
        return Folder(self.root, f"{kind}/{address}")

    def addresses(self, kind: str) -> list[str]:
        """Return the addresses of all folders of a kind, complete or not, sorted."""
        return Folder(self.root, kind).subfolders()


@dataclass
class _Known:
    """What this process knows of a folder."""

    complete: bool = False
    """Of a remote folder, which stays complete until it is found damaged."""
    manifest: dict[str, Any] | None = None
    sums: dict[str, Checksum] = field(default_factory=dict)
    """The checksums of the files that this process has written or found intact."""
    copies: set[str] = field(default_factory=set)
    """The remote files of which there are copies on this machine."""


_known: dict[tuple[str, str], _Known] = {}
"""By root and name of the folder."""


@dataclass(frozen=True)
class Folder:
    """A folder below a root: its files, records and manifest. It can be pickled and used on other
    machines."""

    root: str
    name: str

    def sub(self, name: str) -> Folder:
        """Return a subfolder."""
        return Folder(self.root, f"{self.name}/{name}" if self.name else name)

    def path(self, name: str = "") -> str:
        """Return the path of a file in the store's filesystem; UserError for one outside."""
        base = files.open_root(self.root)[1].rstrip("/")
        for part in (self.name, name):
            files.check_inside(part)
        return "/".join(filter(None, (base, self.name, name)))

    @property
    def filesystem(self) -> fs.FileSystem:
        """The filesystem of `path`."""
        return files.open_root(self.root)[0]

    @property
    def is_local(self) -> bool:
        """Whether the folder is on a mounted disk."""
        return isinstance(self.filesystem, fs.LocalFileSystem)

    @property
    def uri(self) -> str:
        """The location of the folder, for messages."""
        if not self.name:
            return self.root
        place, mark, query = self.root.partition("?") if "://" in self.root else (self.root, "", "")
        return f"{place.rstrip('/')}/{self.name}{mark}{query}"  # the query stays last

    def location(self, name: str) -> str:
        """Return the path or URI of a file, for messages."""
        return self.sub(name).uri

    @property
    def link(self) -> str | None:
        """The path of the link that the folder, or one that it is in, is; None where there is none.

        The folder of a kind may be a link to a larger disk, and is a folder for all that.
        """
        if not self.is_local:
            return None
        parts = self.name.split("/")
        places = ("/".join(parts[:count]) for count in range(2, len(parts) + 1))
        paths = (Folder(self.root, place).path() for place in places)
        return next(filter(os.path.islink, paths), None)

    # What is there.

    def exists(self, name: str = "") -> bool:
        """Return whether a file, or by default the folder, is there."""
        return name in self._known.copies or self.info(name) is not None

    def info(self, name: str = "") -> fs.FileInfo | None:
        """Return what is known of a file, or by default of the folder; None where it is not
        there."""
        info = self.filesystem.get_file_info(self.path(name))
        return None if info.type == fs.FileType.NotFound else info

    def contents(self, *, below: bool = True) -> dict[str, fs.FileInfo]:
        """Return what is known of the files and subfolders, by their names in order, with `below`
        also of those in them; temporary ones too."""
        base = self.path()
        selector = fs.FileSelector(base, allow_not_found=True, recursive=below)
        infos = self.filesystem.get_file_info(selector)
        return dict(sorted((info.path[len(base) :].lstrip("/"), info) for info in infos))

    def names(self) -> list[str]:
        """Return the names of the files except temporary ones, sorted."""
        return [name for name, info in self._lasting() if info.is_file]

    def subfolders(self) -> list[str]:
        """Return the names of the subfolders, sorted."""
        return [name for name, info in self._lasting() if not info.is_file]

    def _lasting(self) -> list[tuple[str, fs.FileInfo]]:
        found = self.contents(below=False).items()
        return [(name, info) for name, info in found if not name.startswith(TEMPORARY)]

    def files(self) -> list[str]:
        """Return the names of all files but the manifest, those of subfolders too, sorted.

        Files that are being written are left out.
        """
        names = [name for name, info in self.contents().items() if info.is_file]
        return [name for name in names if name != MANIFEST and f"/{TEMPORARY}" not in f"/{name}"]

    @property
    def complete(self) -> bool:
        """Whether the folder has its manifest; a remote one that had it keeps it, until this
        process finds it damaged."""
        if self.is_local:
            return self.exists(MANIFEST)
        known = self._known
        if not known.complete:
            known.copies.discard(MANIFEST)
            with suppress(FileNotFoundError):
                self._local_file(MANIFEST)
                # Another process has completed it, and written more.
                known.copies, known.complete = {MANIFEST}, True
        return known.complete

    # Reading.

    def read(self, name: str, *, verified: bool = True) -> bytes:
        """Return the bytes of a file; Damaged where those of a complete folder are not as they were
        written.

        What no manifest has, such as records with checksums of their own, need not be `verified`.
        """
        is_checked = verified and self.complete
        return (self.local(name) if is_checked else self._local_file(name)).read_bytes()

    def read_record(self, name: str) -> dict[str, Any]:
        """Return the content of a record; Damaged where it is not as it was written, UserError for
        one of another version of Augury."""
        content = integrity.unseal(self.read(name, verified=False), self.location(name))
        if content.get("schema") != SCHEMA:
            raise UserError(
                f"{self.location(name)} was written by another version of Augury: use that "
                "version, or give another storage"
            )
        return content

    def earlier_record(self, name: str) -> dict[str, Any]:
        """Return a record that an earlier command has written; empty where there is none or, with a
        warning, where it is damaged, as it is made anew."""
        try:
            return self.read_record(name) if self.exists(name) else {}
        except Damaged as error:
            say(f"warning: {error}: it is made anew")
            return {}

    def manifest(self) -> dict[str, Any]:
        """Return the manifest, which describes content and inputs; UserError if the folder is
        incomplete, or of another version of Augury, and Damaged if its manifest is."""
        if not self.complete:
            raise UserError(
                f"{self.uri} is missing or incomplete: repeat the command that makes it, such as "
                "`augury train`"
            )
        return {key: value for key, value in self._manifest().items() if key != OTHERS}

    def _manifest(self) -> dict[str, Any]:
        known = self._known
        if known.manifest is None:
            known.manifest = self.read_record(MANIFEST)
        return known.manifest

    def local(self, name: str = "", record: str = MANIFEST) -> Path:
        """Return the local path of a file, or by default of the folder with all its files, of which
        remote ones are downloaded for the life of the process.

        Damaged where what a record vouches for, by default the manifest of a complete folder, is
        not as it was written.
        """
        if fault := self.damage(record, name):
            raise Damaged(
                f"{fault}: repeat the command that made it, such as `augury train`, which makes it "
                "anew"
            )
        if self.is_local:
            return Path(self.path(name))
        names = [name] if name else [*self._vouched(record)]
        self._map(self._local_file, names or self.files())
        return self._place(name)

    def damage(self, record: str = MANIFEST, name: str = "") -> str | None:
        """Return which of the files that a record of the folder vouches for, or whether the one
        with a name, is damaged, as its location and the reason; None where they are as they were
        written, and where the folder is not complete.

        Each of them is read once in a process, as long as nothing is damaged.
        """
        sums = self._known.sums
        try:
            expected = self._vouched(record)
        except Damaged as error:
            self.forget()
            return str(error)
        asked = [file for file in expected if name in ("", file)]
        unchecked = [file for file in asked if sums.get(file) != expected[file]]

        def check(file: str) -> str | None:
            fault = self.fault(file, expected[file], copied=True)
            if fault is None:
                sums[file] = expected[file]
            return fault

        fault = next(filter(None, self._map(check, unchecked)), None)
        if fault:
            self.forget()
        return fault

    def _vouched(self, record: str) -> dict[str, Checksum]:
        """Return the checksums of the files that a record vouches for, none for the manifest of an
        incomplete folder; Damaged where the record is or is missing."""
        if record == MANIFEST:
            return checksums(self._manifest()) if self.complete else {}
        try:
            return checksums(self.read_record(record))
        except FileNotFoundError as error:
            raise Damaged(f"{self.location(record)} is missing") from error

    def fault(self, name: str, expected: Checksum, *, copied: bool = False) -> str | None:
        """Return how a file, or the `copied` one of a remote folder, differs from its checksum, its
        location first; None where it does not."""
        try:
            if copied:
                with self._local_file(name).open("rb") as stream:
                    actual = _checksum_of(stream)
            else:
                actual = self.checksum(name)
            fault = integrity.difference(expected, actual)
        except FileNotFoundError:
            fault = "is missing"
        return fault and f"{self.location(name)} {fault}"

    def checksum(self, name: str) -> Checksum:
        """Return the checksum of a file as it is now."""
        return self._streamed(name, _checksum_of)

    def _local_file(self, name: str) -> Path:
        """Return the path of a file, or of a copy of a remote one, which is kept where the folder
        is complete."""
        if self.is_local:
            return Path(self.path(name))
        known, place = self._known, self._place(name)
        if name in known.copies:
            return place

        def copy(stream: Any) -> None:
            with appearing(place) as file:
                shutil.copyfileobj(stream, file, CHUNK)

        self._streamed(name, copy)
        if known.complete:
            known.copies.add(name)
        return place

    def _place(self, name: str) -> Path:
        """Return the place of a local copy of a remote file."""
        _, place = integrity.checksum([self.uri.encode()])
        return downloads(os.getpid()) / place / name

    def _streamed(self, name: str, use: Callable[[Any], T]) -> T:
        """Return what a function of a stream of a file returns.

        It is called again where a busy object store answers with a page that is longer than a small
        file, which pyarrow does not repeat.
        """
        for attempt in range(files.PATIENCE[0]):
            try:
                with self.filesystem.open_input_stream(self.path(name), compression=None) as stream:
                    return use(stream)
            except OSError as error:
                if "flush response stream" not in str(error) or attempt == files.PATIENCE[0] - 1:
                    raise
            time.sleep(0.05 * 2**attempt)
        raise AssertionError("the last attempt returns or raises")

    # Writing.

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """Open a stream to a file that appears under `name` when the block ends without an
        exception."""
        path = self.path(name)
        self._change(name)
        target = Path(path) if self.is_local else self._place(name)
        with appearing(target) as file:
            yield file
        with target.open("rb") as source:
            checksum = _checksum_of(source)
            if not self.is_local:
                source.seek(0)
                # What is half written to a stream of Arrow is published too, when it is forgotten.
                stream = self.filesystem.open_output_stream(path, compression=None)
                shutil.copyfileobj(source, stream, CHUNK)
                stream.close()
        self._known.sums[name] = checksum
        if self.is_local:
            return
        if checksum[0] < SMALL:
            self._known.copies.add(name)  # most are read soon
        else:
            target.unlink()

    def write(self, name: str, content: bytes | str) -> Checksum:
        """Write a file atomically, and return its checksum."""
        with self.writing(name) as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
        return self._known.sums[name]

    def write_record(
        self,
        name: str,
        value: Mapping[str, Any],
        files: Iterable[str] = (),
        known: Mapping[str, Checksum] | None = None,
    ) -> dict[str, Any]:
        """Write a JSON file with its schema and its checksum, and those of `files` of this folder,
        which are read unless theirs are `known`; return its content.

        The passwords and keys of URIs are left out: not for texts and what is learned from them,
        which have to stay as they are.
        """
        given = {key: entry for key, entry in value.items() if key not in ("schema", OTHERS)}
        content = {"schema": SCHEMA, **redacted_values(given)}
        sums, names = {**self._known.sums, **(known or {})}, sorted(files)
        if names:
            read = [file for file in names if file not in sums]
            sums |= zip(read, self._map(self.checksum, read), strict=True)
            content[OTHERS] = {file: sums[file] for file in names}
        text = _json(integrity.seal(content))
        self.write(name, text)
        return integrity.unseal(text.encode(), name)

    def finish(
        self,
        manifest: Mapping[str, Any],
        *,
        files: Iterable[str] | None = None,
        known: Mapping[str, Checksum] | None = None,
    ) -> None:
        """Write the manifest, with checksums of files (by default of all).

        Files are read for it unless their checksums are `known` to those who wrote them: else the
        driver would read what a whole cluster has made.
        """
        names = self.files() if files is None else [*files]
        written = self.write_record(MANIFEST, manifest, names, known)
        self._known.complete, self._known.manifest = True, written
        self._known.sums.update(known or {})

    def put(self, directory: Path, name: str) -> None:
        """Move a local directory into the folder under `name`, replacing what is there.

        It gets a manifest of its own, which comes last: before, it does not count.
        """
        there = self.sub(name)
        there.remove()

        def move(file: str) -> None:
            with (directory / file).open("rb") as content, there.writing(file) as target:
                shutil.copyfileobj(content, target, CHUNK)

        paths = (path for path in directory.rglob("*") if path.is_file())
        files = {path.relative_to(directory).as_posix() for path in paths} - {MANIFEST}
        there._map(move, sorted(files))
        there.finish({}, files=files)
        shutil.rmtree(directory)

    def remove(self, name: str = "") -> None:
        """Remove a file or folder if it exists, the manifest of a folder first so that no partial
        one looks complete; of a link, the link alone."""
        (self.sub(name) if name else self).forget()
        self._change(name)
        path = self.path(name)
        link = path if self.is_local and os.path.islink(path) else None
        if link := link or (None if name else self.link):
            os.remove(link)
        elif info := self.info(name):
            if not info.is_file and self.is_local:  # elsewhere one request removes a thousand files
                self.remove(f"{name}/{MANIFEST}" if name else MANIFEST)
            with suppress(FileNotFoundError):  # another process may have removed it
                delete = self.filesystem.delete_file if info.is_file else self.filesystem.delete_dir
                delete(path)

    def drop(self, name: str) -> None:
        """Remove a file of a complete folder, which then is as if it had never had it."""
        manifest = self.read_record(MANIFEST)
        manifest.get(OTHERS, {}).pop(name, None)
        self.write(MANIFEST, _json(integrity.seal(manifest)))
        self.remove(name)

    @property
    def _known(self) -> _Known:
        return _known.setdefault((self.root, self.name), _Known())

    def forget(self) -> None:
        """Let the folder, and those in it, be asked for and checked again: others may have changed
        them."""
        inside = f"{self.name}/"
        for root, name in list(_known):
            if root == self.root and f"{name}/".startswith(inside):
                _known.pop((root, name), None)

    def release(self) -> None:
        """Let others change a folder that this process has made, unless it is complete."""
        if not self._known.complete:
            self.forget()

    def _change(self, name: str) -> None:
        """Note that a file is written or removed."""
        known = self._known
        known.sums.pop(name, None)
        known.copies.discard(name)
        if name == MANIFEST:
            known.manifest, known.complete = None, False

    def _map(self, function: Callable[[str], T], names: list[str]) -> list[T]:
        """Return the results of a function of files, several at a time."""
        with ThreadPoolExecutor(THREADS) as threads:
            return list(threads.map(function, names))


def _checksum_of(stream: Any) -> Checksum:
    return integrity.checksum(iter(lambda: stream.read(CHUNK), b""))


def modified(info: fs.FileInfo) -> float:
    """Return when a file was last changed, in seconds since 1970; 0 where that is not known."""
    return float(info.mtime_ns or 0) / 1e9


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
