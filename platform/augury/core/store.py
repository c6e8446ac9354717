"""Content-addressed store of folders on a local disk or an object store.

A folder is valid once its completion marker is there, which is written last. All builders of a
folder write the same bytes to the same files, and a build that was killed resumes at the first
missing file. The manifest of a finished folder has checksums of its files, by which damage is found
before they are used.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from augury.core import integrity
from augury.core.afterwards import remove_afterwards
from augury.core.directory import Directory, recent
from augury.core.errors import UserError
from augury.core.filesystem import LocalFilesystem
from augury.core.integrity import OTHERS, Checksum, Damaged, checksums
from augury.core.messages import say_once
from augury.core.recent import LARGE
from augury.core.roots import TEMPORARY, local_root, open_root, reset_permissions
from augury.core.secrets import redacted_values
from augury.core.temporary import temporary_directory
from augury.core.transfer import copy, move

MARKER = "_COMPLETE"
MANIFEST = "manifest.json"
LAST = (MANIFEST, MARKER)
"""The files of a folder that are written behind the others."""
SCHEMA = 1
"""The version of the form of stored folders and records; a later one is refused."""


class Store:
    """The folders below a root."""

    def __init__(self, root: str | Path):
        """Open a store, whose directory may not exist yet.

        UserError for a root that cannot be one, such as a directory on a disk that is not there.
        """
        self.root = str(root) if "://" in str(root) else local_root(str(root))
        open_root(self.root)

    def folder(self, kind: str, address: str) -> Folder:
        """Return the folder of an address, whether it exists or not."""
        return Folder(self.root, f"{kind}/{address}")

    def addresses(self, kind: str) -> list[str]:
        """Return the addresses of all folders of a kind, complete or not, sorted."""
        return Folder(self.root, kind).subfolders()


@dataclass(frozen=True)
class Folder(Directory):
    """A folder of a store, whose manifest has checksums of its files."""

    def read_json(self, name: str) -> Any:
        """Return the content of a JSON file; Damaged if it is none, UserError for one of a later
        version of Augury."""
        content = integrity.parse(self.read(name), self.location(name))
        if isinstance(content, dict):
            self._refuse_later(content, name)
        return content

    def read_record(self, name: str) -> dict[str, Any]:
        """Return the content of a record; Damaged where it is not as it was written, UserError for
        one of a later version of Augury.

        A notice says once of a storage that records of earlier versions have no checksums.
        """
        return self._unsealed(self.read(name), name)

    def _unsealed(self, data: bytes, name: str) -> dict[str, Any]:
        content, sealed = integrity.unseal(data, self.location(name))
        self._refuse_later(content, name)
        if not sealed:
            say_once(
                f"{self.root} has files of an earlier version of Augury, without checksums: damage "
                "to them is not found"
            )
        return content

    def _refuse_later(self, content: Mapping[str, Any], name: str) -> None:
        if isinstance(schema := content.get("schema"), int) and schema > SCHEMA:
            raise UserError(
                f"{self.location(name)} was written by a later version of Augury: install that "
                "version"
            )

    def checked(self, name: str) -> bytes:
        """Return the bytes of a file of a finished folder; Damaged where they are not as they were
        written."""
        if "manifest" not in self._facts and not self.complete:  # while it is made
            return self.read(name)
        expected = self._checksums().get(name)
        content = recent.file(self._place, name)
        if content is not None and expected == integrity.checksum([content]):
            return content
        try:
            content = self.read_now(name)
        except FileNotFoundError as error:
            raise self._damaged(f"{name} is missing") from error
        if expected and (fault := integrity.difference(expected, integrity.checksum([content]))):
            raise self._damaged(f"{name} {fault}")
        self._keep(name, content)
        return content

    def checked_json(self, name: str) -> Any:
        """Return the content of a JSON file of a finished folder, as `checked` does."""
        return integrity.parse(self.checked(name), self.location(name))

    def vouched(self, record: str, name: str) -> None:
        """Raise Damaged where a file is not as a record of this folder, if it is there, has it."""
        content = self.read_record(record) if self.exists(record) else {}
        expected = checksums(content).get(name)
        if expected and (fault := self.fault(name, expected)):
            raise Damaged(self.described(fault))

    def write_json(self, name: str, value: Any) -> None:
        """Write a JSON file of a folder whose manifest has the schema, without sorting keys."""
        self.write(name, _json(value))

    def write_object(self, name: str, value: Mapping[str, Any]) -> None:
        """Write a JSON file with its schema, for what no manifest or record has that of."""
        self.write_json(name, versioned(value))

    def write_record(
        self,
        name: str,
        value: dict[str, Any],
        files: Iterable[str] = (),
        known: Mapping[str, Checksum] | None = None,
    ) -> dict[str, Any]:
        """Write a JSON file with its schema and its checksum, and those of `files` of this folder,
        which are read unless theirs are `known`; return its content.

        The passwords and keys of URIs are left out: not for texts and what is learned from them,
        which have to stay as they are.
        """
        content = {"schema": SCHEMA, **redacted_values(value)}
        if names := sorted(files):
            read = [file for file in names if file not in (known or {})]
            sums = {**(known or {}), **dict(zip(read, self._map(self._written, read), strict=True))}
            content[OTHERS] = {file: sums[file] for file in names}
        text = _json(integrity.seal(content))
        self.write(name, text)
        return self._unsealed(text.encode(), name)

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """Open a stream to a file that appears under `name` when the block ends without an
        exception."""
        _intact.discard(self._place)
        with super().writing(name) as stream:
            yield stream

    def remove(self, name: str = "") -> None:
        """Remove a file or folder if it exists, the marker of a folder first so that no partial
        one looks complete."""
        info = self.info(name)
        with suppress(FileNotFoundError):  # another process removes it too
            if info and info.is_directory:
                self.remove(f"{name}/{MARKER}" if name else MARKER)
                self.filesystem.remove_directory(info.path)
            elif info and info.is_file:
                self.filesystem.remove_file(info.path)
        _forget(self)
        _forget(self.sub(name))

    def drop(self, name: str) -> None:
        """Remove a file of a finished folder, which then is as if it had never had it."""
        if self.exists(MANIFEST):
            manifest = self.read_record(MANIFEST)
            manifest.get(OTHERS, {}).pop(name, None)
            self.write(MANIFEST, _json(integrity.seal(manifest)))
        self.remove(name)

    @property
    def complete(self) -> bool:
        """Whether the folder has its completion marker; a remote one that had it keeps it, until
        this process finds it damaged."""
        if self.is_local or not self._facts.get(MARKER):
            found = self.exists(MARKER)
            self._facts[MARKER] = found
            return found
        return True

    def finish(
        self,
        manifest: dict[str, Any],
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
        self._facts.pop("manifest", None)
        self._is_finished(written)

    def _is_finished(self, manifest: dict[str, Any]) -> None:
        """Note what this process has uploaded, of which the server has compared checksums."""
        if not self.is_local:
            self._facts.update({"manifest": manifest, MARKER: True})
            _intact.add(self._place)

    def manifest(self) -> dict[str, Any]:
        """Return the manifest, which describes content and inputs; UserError if the folder is
        incomplete, or of a later version of Augury, and Damaged if its manifest is."""
        if not self.complete:
            raise UserError(
                f"{self.uri} is incomplete: the command that creates it was interrupted; run it "
                "again"
            )
        if "manifest" not in self._facts:
            try:
                manifest = self.read_record(MANIFEST)
            except FileNotFoundError as error:
                raise self._damaged(f"{MANIFEST} is missing") from error
            self._facts["manifest"] = manifest
        return {key: value for key, value in self._facts["manifest"].items() if key != OTHERS}

    def files(self) -> list[str]:
        """Return the names of all files, those of subfolders too, but manifest and marker, sorted.

        Files that are being written are left out.
        """
        return sorted(name for name in self._all_files() if name not in LAST)

    def damage(self) -> str | None:
        """Return what is damaged in a finished folder, as FILE and reason; None where it is as it
        was written, or cannot tell.

        All files are read, once in a process where nothing is damaged.
        """
        if self._place in _intact or not self.exists(MANIFEST):
            return None
        self._facts.pop("manifest", None)
        try:
            expected = self._checksums()
        except Damaged as error:
            return str(error).replace(self.location(MANIFEST), MANIFEST, 1)
        except UserError:
            if self.complete:
                raise
            return None  # another process has begun to remove it
        faults = self._map(lambda name: self.fault(name, expected[name]), list(expected))
        fault = next(filter(None, faults), None)
        if fault is None:
            _intact.add(self._place)
        elif not self.complete:  # it is being removed
            return None
        elif checksums(self.read_record(MANIFEST)) != expected:
            return self.damage()  # a file has been dropped meanwhile
        return fault

    def _checksums(self) -> dict[str, Checksum]:
        if "manifest" not in self._facts:
            self.manifest()
        return checksums(self._facts["manifest"])

    def fault(self, name: str, expected: Checksum) -> str | None:
        """Return how a file differs from its checksum, its name first; None where it does not."""
        if self.is_local:
            info = self.info(name)
            if info and info.is_file and info.size != expected[0]:
                # Another size is found without reading the file.
                return f"{name} {integrity.difference(expected, (info.size, ''))}"
        try:
            fault = integrity.difference(expected, self._checksum(name, expected[0]))
        except FileNotFoundError:
            return f"{name} is missing"
        return fault and f"{name} {fault}"

    def _checksum(self, name: str, size: int) -> Checksum:
        """Return the checksum of a file, whose content is kept where it is remote and not large."""
        if self.is_local or size >= LARGE:
            return self.checksum(name)
        content = self.read_now(name)
        self._keep(name, content)
        return integrity.checksum([content])

    def _written(self, name: str) -> Checksum:
        """Return the checksum of a file, of what this process has uploaded where it is kept."""
        content = recent.file(self._place, name)
        return self.checksum(name) if content is None else integrity.checksum([content])

    def described(self, fault: str) -> str:
        """Return a fault with the location of its file in place of the name, for messages."""
        name, _, reason = fault.partition(" ")
        return f"{self.location(name)} {reason}"

    def _damaged(self, fault: str) -> Damaged:
        _forget(self)
        return Damaged(
            f"{self.described(fault)}: repeat the command that made it, such as `augury train`, "
            "which makes it anew"
        )

    def local(self, name: str = "") -> Path:
        """Return the local path of a file, or by default of the folder with all its files, of which
        remote ones are downloaded for the life of the process.

        Damaged where a finished folder is not as it was written.
        """
        if self.is_local:
            if fault := self.damage() if self.complete else None:
                raise self._damaged(fault)
            return Path(self.path(name))
        facts: dict[Any, Any] = self._facts if self.complete else self._cache
        if ("local", name) not in facts:
            directory = Path(tempfile.mkdtemp(dir=_downloads(os.getpid())))
            self.copy_to(directory, [name] if name else None)
            downloaded = Folder(str(directory.parent), directory.name)
            if fault := downloaded.damage() if downloaded.complete else None:
                raise self._damaged(fault)
            facts["local", name] = directory / name
        return Path(facts["local", name])

    def copy_to(self, directory: Path, names: Iterable[str] | None = None) -> None:
        """Copy files, by default all, into a local directory."""

        def fetch(name: str) -> None:
            target = directory / name
            target.parent.mkdir(parents=True, exist_ok=True)
            content = recent.file(self._place, name)
            same = content is not None and vouched.get(name) == integrity.checksum([content])
            if content is not None and (same or (vouched and name in LAST)):
                target.write_bytes(content)
            else:
                copy(self.path(name), self.filesystem, str(target), LocalFilesystem())

        vouched = checksums(self._facts.get("manifest", {}))
        # One by one: the first that fails would let all be copied again.
        self._map(fetch, sorted(self._all_files() if names is None else names))

    def directories(self) -> list[str]:
        """Return the names of the directories that were `put`, completely, sorted."""
        if self.is_local:
            return self.subfolders()
        ends = f"/{MARKER}"
        names = [file.removesuffix(ends) for file in self._all_files() if file.endswith(ends)]
        return sorted(name for name in names if "/" not in name)

    def has_directory(self, name: str) -> bool:
        """Return whether a directory was `put` under `name`, completely."""
        return self.exists(name if self.is_local else f"{name}/{MARKER}")

    def put(self, directory: Path, name: str) -> None:
        """Move a local directory into the folder under `name`, replacing what is there.

        It gets a manifest of its own. On a mounted filesystem a new directory appears whole, and a
        replaced one is absent for an instant. Elsewhere the old directory is removed first, files
        are copied one by one, and a marker comes last, which `has_directory` looks for.
        """
        target = self.path(name)
        for last in LAST:
            (directory / last).unlink(missing_ok=True)
        Folder(str(directory.parent), directory.name).finish({})
        manifest = Folder(str(directory.parent), directory.name).read_record(MANIFEST)
        there = self.sub(name)
        _forget(there)
        if self.is_local:
            os.makedirs(self.path(), exist_ok=True)
            temporary = self.path(f"{TEMPORARY}{name}-{uuid.uuid4().hex[:8]}")
            try:
                move(directory, temporary)
                reset_permissions(Path(temporary))
                if os.path.exists(
                    target
                ):  # renamed before it is removed: a removal that is killed leaves a part behind
                    os.replace(target, f"{temporary}-old")
                os.replace(temporary, target)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
                shutil.rmtree(f"{temporary}-old", ignore_errors=True)
        else:
            self.remove(name)
            (directory / MARKER).unlink()
            files = [path for path in sorted(directory.rglob("*")) if path.is_file()]

            def upload(file: str) -> None:
                local, remote = LocalFilesystem(), self.filesystem
                copy(str(directory / file), local, f"{target}/{file}", remote)
                if (directory / file).stat().st_size < LARGE:
                    there._keep(file, (directory / file).read_bytes())

            self._map(upload, [str(path.relative_to(directory)) for path in files])
            there.write(MARKER, b"")
            there._is_finished(manifest)
            shutil.rmtree(directory)


@functools.cache
def _downloads(process: int) -> Path:
    """Return the directory for downloads of a process, this one."""
    directory = temporary_directory("downloads")
    remove_afterwards(directory)
    return directory


_intact: set[tuple[str, str]] = set()
"""Root and name of the folders whose files this process has found as they were written."""


def forget(root: str) -> None:
    """Let all folders of a root be asked for anew, which other processes may have changed."""
    recent.forget(root)
    _intact.difference_update([place for place in _intact if place[0] == root])


def _forget(folder: Folder) -> None:
    """Let a folder that changes be checked again."""
    _intact.discard((folder.root, folder.name))
    if not folder.is_local:
        recent.forget(folder.root, folder.name)


def versioned(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a JSON file with the schema that it is written in."""
    return {**value, "schema": SCHEMA} if "schema" in value else {"schema": SCHEMA, **value}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
