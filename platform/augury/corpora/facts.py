"""What checks have found out about corpora, kept in the storage: a check is not repeated for the
same text.

The corpora of a storage do not change, so that neither does what is found in them. Facts are no
results: those that are missing or damaged are computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from augury import __version__
from augury.core import config, integrity
from augury.core.integrity import Damaged
from augury.core.store import Folder, versioned
from augury.corpora.corpus import Corpus

T = TypeVar("T")

KIND = ".facts"
"""Hidden, as locks are: facts need no verification, and nothing depends on them."""
VERSION = 1
"""Raised when any check finds something else in the same text; so does a version of Augury."""


def remembered(name: str, corpora: Sequence[Corpus], find: Callable[[], T], **settings: Any) -> T:
    """Return what `find` finds in corpora, which is JSON and depends on them and settings alone; it
    is called unless that is stored already."""
    stored = recall(name, corpora, **settings)
    if stored is not None:
        value: T = stored["value"]
        return value
    value = find()
    keep(name, corpora, value, **settings)
    return value


def recall(name: str, corpora: Sequence[Corpus], **settings: Any) -> dict[str, Any] | None:
    """Return what is stored under `value`; None where nothing is, or it is damaged."""
    folder, file = _place(name, corpora, settings)
    try:
        return folder.read_record(file)
    except (FileNotFoundError, Damaged):
        return None


def keep(name: str, corpora: Sequence[Corpus], value: Any, **settings: Any) -> None:
    """Store what was found, where the storage can be written to, and JSON has it (not NaN)."""
    folder, file = _place(name, corpora, settings)
    with suppress(OSError, ValueError):
        folder.write_json(file, integrity.seal(versioned({"value": value})))


def _place(name: str, corpora: Sequence[Corpus], settings: dict[str, Any]) -> tuple[Folder, str]:
    first, *others = corpora
    key = [__version__, VERSION, name, [corpus.address for corpus in others], settings]
    return Folder(first.folder.root, f"{KIND}/{first.address}"), f"{config.address(key)}.json"
