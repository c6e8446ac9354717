"""Content-addressed store of folders: what makes one complete, and how damage is found.

A folder is valid once its completion marker is there, which is written last. All builders of a
folder write the same bytes to the same files, and a build that was killed resumes at the first
missing file. The manifest of a finished folder has checksums of its files, by which damage is found
before they are used.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeVar

from augury.core import integrity
from augury.core.directories import TEMPORARY, downloads, reset_permissions
from augury.core.errors import UserError
from augury.core.files import Files, local_root
from augury.core.integrity import CHUNK, OTHERS, Checksum, Damaged, checksums
from augury.core.messages import say
from augury.core.secrets import redacted_values

T = TypeVar("T")

MARKER = "_COMPLETE"
MANIFEST = "manifest.json"
LAST = (MANIFEST, MARKER)
"""The files of a folder that are written behind the others."""
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
        self.root = str(root) if "://" in str(root) else local_root(str(root))
        _ = Folder(self.root, "").filesystem

    def folder(self, kind: str, address: str) -> Folder:
        """Return the folder of an address, whether it exists or not."""
        return Folder(self.root, f"{kind}/{address}")

    def addresses(self, kind: str) -> list[str]:
        """Return the addresses of all folders of a kind, complete or not, sorted."""
        return Folder(self.root, kind).subfolders()


@dataclass
class _Facts:
    """What this process knows of a folder."""

    complete: bool = False
    manifest: dict[str, Any] | None = None
    intact: set[str] = field(default_factory=set)
    """The records whose files have been found as they were written."""
    written: dict[str, Checksum] = field(default_factory=dict)
    """What this process has written."""
    copies: dict[str, Path] = field(default_factory=dict)
    """Local copies of remote files that are as they were written."""
    seen: set[str] = field(default_factory=set)
    """Files of a finished remote folder that are there."""


_known: dict[tuple[str, str], _Facts] = {}
"""By root and name of the folder."""
_downloading = threading.Lock()


class Folder(Files):
    """A folder below a root: its files, records and manifest."""

    def sub(self, name: str) -> Folder:
        """Return a subfolder."""
        return Folder(self.root, f"{self.name}/{name}" if self.name else name)

    def exists(self, name: str = "") -> bool:
        """Return whether a file, or by default the folder, is there."""
        facts = self._facts
        if name in facts.seen or name in facts.copies:
            return True
        found = super().exists(name)
        if found and facts.complete and not self.is_local:
            facts.seen.add(name)
        return found

    def files(self, *, last: bool = False) -> list[str]:
        """Return the names of all files, those of subfolders too, but manifest and marker unless
        `last`, sorted.

        Files that are being written are left out.
        """
        infos = self.contents().items()
        names = [name for name, info in infos if info.is_file and f"/{TEMPORARY}" not in f"/{name}"]
        return [name for name in names if last or name not in LAST]

    def read(self, name: str, *, verified: bool = True) -> bytes:
        """Return the bytes of a file; Damaged where those of a finished folder are not as they were
        written.

        What no manifest has, such as records with checksums of their own, need not be `verified`.
        """
        if copy := self._facts.copies.get(name):
            return copy.read_bytes()
        expected = checksums(self._manifest()).get(name) if verified and self.complete else None
        try:
            content = self.streamed(name, lambda stream: bytes(stream.read()))
        except FileNotFoundError as error:
            if expected:
                raise self._to_repeat(f"{self.location(name)} is missing") from error
            raise
        fault = expected and integrity.difference(expected, integrity.checksum([content]))
        if fault:
            raise self._to_repeat(f"{self.location(name)} {fault}")
        if expected or self._facts.complete:
            self._keep_copy(name, content)
        return content

    def read_json(self, name: str) -> Any:
        """Return the content of a JSON file that the manifest vouches for; Damaged if it is
        none."""
        return integrity.parse(self.read(name), self.location(name))

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

    def write(self, name: str, content: bytes | str) -> Checksum:
        """Write a file atomically, and return its checksum."""
        data = content.encode() if isinstance(content, str) else content
        with self.writing(name) as stream:
            stream.write(data)
        written = self._facts.written[name] = integrity.checksum([data])
        self._keep_copy(name, data)  # most are read soon
        return written

    def write_json(self, name: str, value: Any) -> None:
        """Write a JSON file of a folder whose manifest vouches for it, without sorting keys."""
        self.write(name, _json(value))

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
        sums, names = {**self._facts.written, **(known or {})}, sorted(files)
        read = [file for file in names if file not in sums]
        if names:
            sums |= zip(read, self._map(self.checksum, read), strict=True)
            content[OTHERS] = {file: sums[file] for file in names}
        text = _json(integrity.seal(content))
        self.write(name, text)
        if not (self.is_local or read):  # the server has compared checksums
            self._facts.intact.add(name)
        return integrity.unseal(text.encode(), name)

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """Open a stream to a file that appears under `name` when the block ends without an
        exception."""
        self._change(name)
        with super().writing(name) as stream:
            yield stream

    def remove(self, name: str = "") -> None:
        """Remove a file or folder if it exists, the marker of a folder first so that no partial
        one looks complete; of a link, the link alone."""
        _forget(self.sub(name) if name else self)
        self._change(name)
        path = self.path(name)
        link = path if self.is_local and os.path.islink(path) else None
        if link := link or (None if name else self.link):
            os.remove(link)
        elif info := self.info(name):
            with suppress(FileNotFoundError):  # another process may have removed it
                if info.is_file:
                    self.filesystem.delete_file(path)
                    return
                self.remove(f"{name}/{MARKER}" if name else MARKER)
                if self.is_local:
                    shutil.rmtree(path, onerror=_raise_unless_removed)
                else:
                    self.filesystem.delete_dir(path)

    def drop(self, name: str) -> None:
        """Remove a file of a finished folder, which then is as if it had never had it."""
        manifest = self.read_record(MANIFEST)
        manifest.get(OTHERS, {}).pop(name, None)
        self.write(MANIFEST, _json(integrity.seal(manifest)))
        self.remove(name)

    @property
    def complete(self) -> bool:
        """Whether the folder has its completion marker; a remote one that had it keeps it, until
        this process finds it damaged."""
        facts = self._facts
        if self.is_local or not facts.complete:
            facts.complete = self.exists(MARKER)
            if facts.complete and not self.is_local:  # by another process, which has written more
                facts.copies.clear()
        return facts.complete

    def finish(
        self,
        manifest: Mapping[str, Any],
        *,
        files: Iterable[str] | None = None,
        known: Mapping[str, Checksum] | None = None,
    ) -> None:
        """Write the manifest, with checksums of files (by default of all), then the marker.

        Files are read for it unless their checksums are `known` to those who wrote them: else the
        driver would read what a whole cluster has made.
        """
        names = self.files() if files is None else files
        written = self.write_record(MANIFEST, manifest, names, known)
        self.write(MARKER, b"")
        self._facts.complete, self._facts.manifest = True, written
        if not self.is_local:  # the server has compared checksums
            self._facts.intact.add(MANIFEST)

    def manifest(self) -> dict[str, Any]:
        """Return the manifest, which describes content and inputs; UserError if the folder is
        incomplete, or of another version of Augury, and Damaged if its manifest is."""
        if not self.complete:
            raise UserError(
                f"{self.uri} is incomplete: the command that creates it was interrupted; run it "
                "again"
            )
        return {key: value for key, value in self._manifest().items() if key != OTHERS}

    def _manifest(self) -> dict[str, Any]:
        facts = self._facts
        if facts.manifest is None:
            facts.manifest = self._vouching(MANIFEST)
        return facts.manifest

    def _vouching(self, record: str) -> dict[str, Any]:
        """Return a record with its checksums of other files; Damaged where it is missing."""
        try:
            return self.read_record(record)
        except FileNotFoundError as error:
            raise Damaged(f"{self.location(record)} is missing") from error

    def damage(self, record: str = MANIFEST) -> str | None:
        """Return which of the files that a record of the folder vouches for is damaged, as its
        location and the reason; None where they are as they were written, and where the folder is
        not finished.

        All of them are read, once in a process where nothing is damaged.
        """
        if record in self._facts.intact or (record == MANIFEST and not self.complete):
            return None
        expected: dict[str, Checksum] = {}
        try:
            expected = checksums(self._vouching(record))
            self._require_intact(list(expected), expected)
        except Damaged as error:
            if record == MANIFEST and not self.exists(MARKER):
                return None  # another process has begun to remove it
            if expected and checksums(self._vouching(record)) != expected:
                return self.damage(record)  # a file has been dropped meanwhile
            return str(error)
        self._facts.intact.add(record)
        return None

    def fault(self, name: str, expected: Checksum, copy: Path | None = None) -> str | None:
        """Return how a file, or a local copy of it, differs from its checksum, its location first;
        None where it does not."""
        try:
            if copy is None:
                actual = self.checksum(name)
            else:
                with copy.open("rb") as stream:
                    actual = _checksum_of(stream)
        except FileNotFoundError:
            return f"{self.location(name)} is missing"
        fault = integrity.difference(expected, actual)
        return fault and f"{self.location(name)} {fault}"

    def checksum(self, name: str) -> Checksum:
        """Return the checksum of a file as it is now."""
        return self.streamed(name, _checksum_of)

    def _require_intact(self, names: list[str], expected: Mapping[str, Checksum]) -> None:
        """Raise Damaged where a file differs from its checksum, if it has one; of remote files,
        copies are kept."""

        def check(name: str) -> None:
            copy = None if self.is_local else self._download(name)
            if name not in expected:
                return
            if fault := self.fault(name, expected[name], copy):
                raise Damaged(fault)
            if copy:
                self._facts.copies[name] = copy

        with _downloading:
            self._map(check, [name for name in names if name not in self._facts.copies])

    def _to_repeat(self, fault: str) -> Damaged:
        _forget(self)
        return Damaged(
            f"{fault}: repeat the command that made it, such as `augury train`, which makes it anew"
        )

    def local(self, name: str = "", record: str = MANIFEST) -> Path:
        """Return the local path of a file, or by default of the folder with all its files, of which
        remote ones are downloaded for the life of the process.

        Damaged where what a record vouches for, by default the manifest of a finished folder, is
        not as it was written.
        """
        if self.is_local:
            if fault := self.damage(record):
                raise self._to_repeat(fault)
            return Path(self.path(name))
        try:
            is_there = record != MANIFEST or self.complete
            expected = checksums(self._vouching(record)) if is_there else {}
            self._require_intact([name] if name else [*(expected or self.files())], expected)
        except Damaged as error:
            raise self._to_repeat(str(error)) from error
        return self._copy_of(name)

    def _copy_of(self, name: str) -> Path:
        """Return the place of a local copy of a remote file."""
        _, place = integrity.checksum([self.uri.encode()])
        return downloads(os.getpid()) / place / name

    def _keep_copy(self, name: str, data: bytes) -> None:
        """Keep a copy of a remote file, unless it is large."""
        if not self.is_local and name not in self._facts.copies and len(data) < SMALL:
            copy = self._copy_of(name)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(data)
            self._facts.copies[name] = copy

    def _download(self, name: str) -> Path:
        """Return the place of a copy of a remote file, which is there as far as the file is."""
        target = self._copy_of(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)  # what is in use stays as it is

        def write(stream: Any) -> None:
            with target.open("wb") as file:
                shutil.copyfileobj(stream, file, CHUNK)

        with suppress(FileNotFoundError):
            self.streamed(name, write)
        return target

    def put(self, directory: Path, name: str) -> None:
        """Move a local directory into the folder under `name`, replacing what is there.

        It gets a manifest of its own. On a mounted filesystem a new directory appears whole, and a
        replaced one is absent for an instant. Elsewhere the old directory is removed first, files
        are copied one by one, and a marker comes last, which says that it is complete.
        """
        for last in LAST:
            (directory / last).unlink(missing_ok=True)
        made = Folder(str(directory.parent), directory.name)
        made.finish({})
        there = self.sub(name)
        _forget(there)
        if self.is_local:
            self._put_whole(directory, name)
        else:
            self.remove(name)
            known = checksums(made._manifest())
            there._map(lambda file: there.upload(directory / file, file), list(known))
            there.finish({}, files=known, known=known)
            shutil.rmtree(directory)
        _forget(made)

    def _put_whole(self, directory: Path, name: str) -> None:
        target = self.path(name)
        os.makedirs(self.path(), exist_ok=True)
        temporary = self.path(f"{TEMPORARY}{name}-{uuid.uuid4().hex[:8]}")
        try:
            shutil.move(directory, temporary)
            reset_permissions(Path(temporary))
            if os.path.exists(target):
                # Renamed before it is removed: a removal that is killed leaves a part behind.
                os.replace(target, f"{temporary}-old")
            os.replace(temporary, target)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
            shutil.rmtree(f"{temporary}-old", ignore_errors=True)

    @property
    def _facts(self) -> _Facts:
        return _known.setdefault((self.root, self.name), _Facts())

    def _change(self, name: str) -> None:
        """Note that a file is written or removed."""
        facts = self._facts
        facts.intact.clear()
        facts.written.pop(name, None)
        facts.copies.pop(name, None)
        facts.seen.discard(name)
        if name in LAST:
            facts.manifest, facts.complete = None, False

    def _map(self, function: Callable[[str], T], names: list[str]) -> list[T]:
        """Return the results of a function of files, several at a time where it pays."""
        if self.is_local and len(names) <= THREADS:
            return list(map(function, names))
        with ThreadPoolExecutor(THREADS) as threads:
            return list(threads.map(function, names))


def _checksum_of(stream: Any) -> Checksum:
    return integrity.checksum(iter(lambda: stream.read(CHUNK), b""))


def _raise_unless_removed(_function: Any, _path: str, error: Any) -> None:
    if not issubclass(error[0], FileNotFoundError):
        raise error[1]


def _forget(folder: Folder) -> None:
    """Let a folder that changes be asked for and checked again, and those in it."""
    inside = f"{folder.name}/"
    for root, name in list(_known):
        if root == folder.root and f"{name}/".startswith(inside):
            _known.pop((root, name), None)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
