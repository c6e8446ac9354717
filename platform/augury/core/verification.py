"""Check the files of a storage against the checksums that were written with them."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from fnmatch import fnmatch
from typing import NamedTuple

from augury.core import integrity
from augury.core.integrity import OWN, Damaged, checksums
from augury.core.store import Folder, Store


class Checked(NamedTuple):
    """A file of a storage that was checked."""

    name: str
    """Below the storage."""
    bytes: int
    damage: str | None = None
    """How it differs from what was written; None where it does not."""


def verify(store: Store, records: Container[str], foreign: Sequence[str] = ()) -> Iterator[Checked]:
    """Yield the records of a storage and, after each, the files that it vouches for.

    `records` are the names of JSON files that always have checksums; of others those are checked
    that have one. Hidden folders, such as those of locks, files that are being written and those
    that match a pattern of `foreign` are left out.
    """
    for name, info in Folder(store.root, "").contents().items():
        hidden = any(part.startswith(".") for part in name.split("/"))
        hidden = hidden or any(fnmatch(name, pattern) for pattern in foreign)
        if hidden or not (info.is_file and name.endswith(".json")):
            continue
        parent, _, file = name.rpartition("/")
        folder = Folder(store.root, parent)
        try:
            content = folder.read(file, verified=False)
            value = integrity.parse(content, name)
            if file not in records and not (isinstance(value, dict) and OWN in value):
                continue
            record = integrity.unseal(content, name)
            yield Checked(name, info.size)
            for other, expected in checksums(record).items():
                fault = folder.fault(other, expected)
                if fault and folder.read(file, verified=False) != content:
                    break  # a command has written or removed both meanwhile
                reason = fault and fault.removeprefix(f"{folder.location(other)} ")
                yield Checked(f"{parent}/{other}", expected[0], reason)
        except FileNotFoundError:  # removed meanwhile
            continue
        except Damaged as error:
            yield Checked(name, info.size, str(error).removeprefix(f"{name} "))
