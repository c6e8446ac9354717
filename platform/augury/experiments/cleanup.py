"""What a storage holds that nothing needs any more: texts that no run refers to, and what killed
processes have left behind."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from augury.core import locks
from augury.core.directories import TEMPORARY
from augury.core.integrity import Damaged
from augury.core.messages import say_once
from augury.core.store import Folder, Store
from augury.experiments.stored_runs import size
from augury.training.trained import PREFIXES

_ADDRESS = re.compile(r"(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])")


@dataclass(frozen=True)
class Unused:
    """Something that can be removed."""

    kind: Literal["text", "temporary"]
    """text: prepared text and what was learned from it; temporary: a file or folder that a killed
    process was writing."""
    path: str
    """Below the storage."""
    bytes: int

    def remove(self, store: Store) -> bool:
        """Remove it; return whether it is gone, and not kept as a process works with it."""
        if self.kind == "text" and locks.any_held(store):
            return False
        parent, _, name = self.path.rpartition("/")
        folder = Folder(store.root, parent)
        folder.sub(name).remove() if self.kind == "text" else folder.remove(name)
        return True


def unused(store: Store, hours: float, users: Sequence[str]) -> list[Unused]:
    """Return what nothing needs and has not changed for some hours, by kind and path.

    Whatever the JSON files of the kinds `users`, runs and sweeps, mention by its address is needed,
    with all that it was made from. A process may not have said yet what its texts are for: hence
    the hours.
    """
    before = time.time() - 3600 * hours
    return [*_texts(store, before, users), *_temporary(store, before)]


def _texts(store: Store, before: float, users: Sequence[str]) -> Iterator[Unused]:
    """Yield folders named by addresses that no user mentions; none while a command works in the
    storage, which may read what no run mentions yet."""
    if locks.any_held(store):
        return
    kinds = Folder(store.root, "").subfolders()
    folders = [
        store.folder(kind, name)
        for kind in kinds
        if not kind.startswith(".") and kind not in (*users, PREFIXES)
        for name in store.addresses(kind)
        if _ADDRESS.fullmatch(name)
    ]
    mentions: list[str] = []
    for user in (store.folder(kind, name) for kind in users for name in store.addresses(kind)):
        for file in (name for name in user.files() if name.endswith(".json")):
            content = user.read(file, verified=False).decode(errors="replace")
            mentions += _ADDRESS.findall(content)
    needed = _with_inputs(mentions, folders)
    for folder in folders:
        if _address(folder) in needed or locks.is_locked(folder) or _changed(folder) > before:
            continue
        yield Unused("text", folder.name, size(folder))


def _with_inputs(mentions: Iterable[str], folders: Iterable[Folder]) -> set[str]:
    """Return addresses with those of everything that the folders there were made from."""
    by_address: dict[str, list[Folder]] = {}
    for folder in folders:
        by_address.setdefault(_address(folder), []).append(folder)
    needed, waiting = set[str](), list(mentions)
    while waiting:
        address = waiting.pop()
        if address not in needed:
            needed.add(address)
            for folder in by_address.get(address, ()):
                waiting += _made_from(folder)
    return needed


def _made_from(folder: Folder) -> list[str]:
    """Return the addresses in a folder's manifest; of an unfinished or damaged folder, none."""
    try:
        return _ADDRESS.findall(json.dumps(folder.manifest())) if folder.complete else []
    except Damaged as error:
        say_once(f"warning: {error}")
        return []


def _temporary(store: Store, before: float) -> Iterator[Unused]:
    """Yield what killed processes were writing."""
    base = Folder(store.root, "")
    inside: list[str] = []
    for name, info in base.contents().items():
        parent, _, last = name.rpartition("/")
        if name.startswith(tuple(inside)) or not last.startswith(TEMPORARY):
            continue
        inside.append(f"{name}/")
        if info.modified <= before and not base.sub(parent).link:
            whole = info.size if info.is_file else size(Folder(store.root, name))
            yield Unused("temporary", name, whole)


def _address(folder: Folder) -> str:
    return folder.name.rpartition("/")[2]


def _changed(folder: Folder) -> float:
    """Return when a folder was last changed, in seconds since 1970."""
    return max((info.modified for info in folder.contents().values()), default=0.0)
