"""Check the files of a storage against the checksums that were written with them."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch

from augury.core import integrity
from augury.core.integrity import OWN, Checksum, Damaged
from augury.core.store import Folder, Store, checksums


@dataclass(frozen=True)
class Checked:
    """A file of a storage that was checked."""

    name: str
    """Below the storage."""
    bytes: int
    damage: str | None = None
    """How it differs from what was written; None where it does not."""
    earlier: bool = False
    """Whether it is a record of an earlier version, without checksums."""
    form_only: bool = False
    """Whether nothing says what it was, so that its form alone was checked."""


def verify(store: Store, records: Container[str], foreign: Sequence[str] = ()) -> Iterator[Checked]:
    """Yield the records of a storage and, after each, the files that it vouches for, then the JSON
    files that nothing vouches for, each once.

    `records` are the names of JSON files that always have checksums now; of others that have none,
    only the form is checked. Hidden folders, such as those of locks, files that are being written
    and those that match a pattern of `foreign` are left out.
    """
    root = Folder(store.root, "")
    seen, others = set[str](), list[Checked]()
    for name, info in root.files_with_info().items():
        hidden = any(part.startswith(".") for part in name.split("/"))
        hidden = hidden or any(fnmatch(name, pattern) for pattern in foreign)
        if hidden or not name.endswith(".json"):
            continue
        for checked in _json(store, name, info.size, records):
            if checked.form_only:  # a manifest that comes later may vouch for it
                others.append(checked)
            elif checked.name not in seen:
                seen.add(checked.name)
                yield checked
    yield from (checked for checked in others if checked.name not in seen)


def _json(store: Store, name: str, size: int, records: Container[str]) -> Iterator[Checked]:
    """Yield a JSON file, and the files that it vouches for."""
    parent, _, file = name.rpartition("/")
    folder = Folder(store.root, parent)
    try:
        content = folder.read(file)
        value = integrity.parse(content, name)
        if file not in records and not (isinstance(value, dict) and OWN in value):
            yield Checked(name, size, form_only=True)
            return
        record, sealed = integrity.unseal(content, name)
    except FileNotFoundError:  # removed meanwhile
        return
    except Damaged as error:
        yield Checked(name, size, str(error).removeprefix(f"{name} "), form_only=True)
        return
    yield Checked(name, size, earlier=not sealed)
    for other, expected in checksums(record).items() if sealed else ():
        fault = folder.fault(other, expected)
        if fault and _has_changed(folder, file, other, expected):
            continue
        yield Checked(f"{parent}/{other}", expected[0], fault and fault.removeprefix(f"{other} "))


def _has_changed(folder: Folder, record: str, file: str, expected: Checksum) -> bool:
    """Return whether a record vouches no more for a file, as a command has written both meanwhile
    or is about to."""
    try:
        return checksums(folder.read_record(record)).get(file) != expected
    except (FileNotFoundError, Damaged):
        return True
