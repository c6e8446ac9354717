"""Run folders (`runs/<address>/seed-<n>`): find them, the notes on their texts, what depends on
them, and what a storage holds that no run needs any more."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from augury.core import locks
from augury.core.directories import TEMPORARY
from augury.core.errors import UserError, unknown
from augury.core.integrity import Damaged
from augury.core.messages import say_once
from augury.core.store import Folder, Store, modified
from augury.corpora.corpus import CORPORA
from augury.experiments.record import (
    DESCRIPTION,
    RUNS,
    Input,
    RunRecord,
    read_description,
    run_folder,
)
from augury.training.trained import PREFIXES

T = TypeVar("T")

FIRST = "first"
"""The name of the first stage of training."""

NO_TESTS = (
    "there are no test sets (corpus.tests): validation decides, by which weights and the end of "
    "training are chosen too, so that its scores are better than those on unseen text"
)
"""A warning of runs without test sets."""


def locate(name: str, storage: str = "results") -> Folder:
    """Return the folder of a run given as a path, a URI, or the beginning of its address in a
    storage.

    Without `/seed-N` it is that of the first seed; `:STAGE` behind it names an earlier stage of
    training. UserError where no run or more than one matches.
    """
    place, mark, query = name.partition("?") if "://" in name else (name, "", "")
    path, colon, of_stage = place.rpartition(":")
    if colon and "/" not in of_stage:
        return stage(locate(f"{path}{mark}{query}", storage), of_stage)
    path = place.rstrip("/")
    if f"/{RUNS}/" in path:
        storage, _, path = path.rpartition(f"/{RUNS}/")
        storage += f"{mark}{query}"
    path = path.removeprefix(f"{RUNS}/")
    store = Store(storage)
    address, _, seed = path.partition("/")
    matching = [known for known in store.addresses(RUNS) if address and known.startswith(address)]
    if len(matching) != 1:
        known = ", ".join(store.addresses(RUNS)[:8]) or "none yet: `augury train` makes them"
        raise UserError(
            f"{'no' if not matching else 'more than one'} run '{address}' in {store.root}; runs: "
            f"{known}"
        )
    seeds = sorted(store.folder(RUNS, matching[0]).subfolders(), key=len)  # 2 before 10
    chosen = seed or next(iter(seeds), "seed")
    if chosen not in seeds:
        known = ", ".join(seeds) or "none"
        raise UserError(f"run {matching[0]} has no '{chosen}': there are {known}")
    return store.folder(RUNS, f"{matching[0]}/{chosen}")


def stage(run: Folder, name: str) -> Folder:
    """Return the run of the stage with this name, among a run and the stages before it."""
    known, folder = [], run
    while True:
        record = RunRecord.read(folder)
        known.append(record.parameters.get("stage.name", FIRST))
        if known[-1] == name:
            return folder
        if record.before is None:
            raise unknown(f"stage of run {run.name}", name, known)
        folder = run_folder(Store(run.root), record.before, record.seed)


def folders(store: Store) -> list[Folder]:
    """Return the folders of all runs that training has described."""
    runs = []
    for address in store.addresses(RUNS):
        group = store.folder(RUNS, address)
        runs += [group.sub(name) for name in group.subfolders() if name.startswith("seed-")]
    return [run for run in runs if run.exists(DESCRIPTION)]


def intact(runs: Iterable[Folder], read: Callable[[Folder], T]) -> dict[Folder, T]:
    """Return what `read` finds in runs; one where that is damaged is left out, with a warning."""
    found = {}
    for run in runs:
        try:
            found[run] = read(run)
        except UserError as error:
            say_once(f"warning: {error}")
    return found


def corpus_notes(run: Folder, inputs: Iterable[Input]) -> list[str]:
    """Return the notes on the texts of a run, such as that they are synthetic."""
    corpora = [Folder(run.root, f"{CORPORA}/{text.address}") for text in inputs]
    notes = [corpus.manifest().get("note") for corpus in corpora if corpus.complete]
    return list(dict.fromkeys(filter(None, notes)))


_MADE = re.compile(rf"{RUNS}/[^/\"]+/seed-\d+|(?<![0-9a-f])[0-9a-f]{{16}}(?![0-9a-f])")
"""What a JSON file says that something was made from: the name of a run, or the address of a
text."""


def dependents(runs: Iterable[Folder], store: Store) -> list[Folder]:
    """Return the runs and texts of a storage that are made from runs, directly or not, without
    these, sorted."""
    texts = _texts(store)
    made_from = {folder: _mentioned(folder) for folder in texts}
    for run, content in intact(folders(store), read_description).items():
        made_from[run] = _mentions(json.dumps(content))
        if before := content.get("run", {}).get("before"):
            made_from[run].add(run_folder(store, before, content["seed"]).name)
    origins = set(runs)
    reached, keys = set(origins), {run.name for run in origins}
    while more := {folder for folder in made_from if made_from[folder] & keys} - reached:
        reached |= more
        keys |= {texts.get(folder, folder.name) for folder in more}
    return sorted(reached - origins, key=lambda folder: folder.name)


def remove(folders: Iterable[Folder]) -> None:
    """Remove runs and texts; runs no longer offer longer ones their beginning."""
    for folder in folders:
        is_run = folder.name.startswith(f"{RUNS}/") and folder.exists(DESCRIPTION)
        if is_run and (content := intact([folder], read_description).get(folder)):
            _, address, seed = folder.name.split("/")
            prefix = content.get("run", {}).get("prefix")
            Folder(folder.root, f"{PREFIXES}/{prefix}/{seed}").remove(address)
        folder.remove()
        parent = Folder(folder.root, folder.name.rpartition("/")[0])
        if parent.name.count("/") == 1 and not (parent.names() or parent.subfolders()):
            parent.remove()


@dataclass(frozen=True)
class Unused:
    """Something that nothing needs any more, and can be removed."""

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
    return [*_unused_texts(store, before, users), *_temporary(store, before)]


def size(folder: Folder) -> int:
    """Return the number of bytes in a folder."""
    return sum(info.size or 0 for info in folder.contents().values())


def _texts(store: Store, without: Sequence[str] = (RUNS,)) -> dict[Folder, str]:
    """Return all folders that are named by their addresses, but of some kinds, with these."""
    kinds = Folder(store.root, "").subfolders()
    return {
        store.folder(kind, address): address
        for kind in kinds
        if not kind.startswith(".") and kind not in (*without, PREFIXES)
        for address in store.addresses(kind)
        if _MADE.fullmatch(address)
    }


def _mentions(content: str) -> set[str]:
    return set(_MADE.findall(content))


def _mentioned(text: Folder) -> set[str]:
    """Return what a text was made from, by its manifest; of an unfinished or damaged one,
    nothing."""
    try:
        return _mentions(json.dumps(text.manifest())) if text.complete else set()
    except Damaged as error:
        say_once(f"warning: {error}")
        return set()


def _unused_texts(store: Store, before: float, users: Sequence[str]) -> Iterator[Unused]:
    """Yield texts that no user mentions; none while a command works in the storage, which may read
    what no run mentions yet."""
    if locks.any_held(store):
        return
    texts = _texts(store, users)
    by_address: dict[str, list[Folder]] = {}
    for folder, address in texts.items():
        by_address.setdefault(address, []).append(folder)
    waiting: list[str] = []
    for user in (store.folder(kind, name) for kind in users for name in store.addresses(kind)):
        for file in (name for name in user.files() if name.endswith(".json")):
            waiting += _mentions(user.read(file, verified=False).decode(errors="replace"))
    needed: set[str] = set()
    while waiting:
        address = waiting.pop()
        if address not in needed:
            needed.add(address)
            for folder in by_address.get(address, ()):
                waiting += _mentioned(folder)
    for folder, address in texts.items():
        changed = max(map(modified, folder.contents().values()), default=0.0)
        if address not in needed and not locks.is_locked(folder) and changed <= before:
            yield Unused("text", folder.name, size(folder))


def _temporary(store: Store, before: float) -> Iterator[Unused]:
    """Yield what killed processes were writing."""
    base = Folder(store.root, "")
    inside: list[str] = []
    for name, info in base.contents().items():
        parent, _, last = name.rpartition("/")
        if name.startswith(tuple(inside)) or not last.startswith(TEMPORARY):
            continue
        inside.append(f"{name}/")
        if modified(info) <= before and not base.sub(parent).link:
            whole = info.size if info.is_file else size(Folder(store.root, name))
            yield Unused("temporary", name, whole or 0)
