"""Run folders (`runs/<address>/seed-<n>`): find them, what depends on them, and the notes on their
texts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from augury.core.errors import UserError, unknown
from augury.core.integrity import Damaged
from augury.core.messages import say_once
from augury.core.store import MANIFEST, Folder, Store
from augury.corpora.corpus import KIND as CORPORA
from augury.experiments.record import (
    DESCRIPTION,
    KIND,
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
"""A caution on runs without test sets."""


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
    if f"/{KIND}/" in path:
        storage, _, path = path.rpartition(f"/{KIND}/")
        storage += f"{mark}{query}"
    path = path.removeprefix(f"{KIND}/")
    store = Store(storage)
    address, _, seed = path.partition("/")
    matching = [known for known in store.addresses(KIND) if address and known.startswith(address)]
    if len(matching) != 1:
        known = ", ".join(store.addresses(KIND)[:8]) or "none yet: `augury train` makes them"
        raise UserError(
            f"{'no' if not matching else 'more than one'} run '{address}' in {store.root}; runs: "
            f"{known}"
        )
    seeds = store.folder(KIND, matching[0]).subfolders()
    chosen = seed or seeds[0]
    if chosen not in seeds:
        raise UserError(f"run {matching[0]} has no '{chosen}': there are {', '.join(seeds)}")
    return store.folder(KIND, f"{matching[0]}/{chosen}")


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
    for address in store.addresses(KIND):
        group = store.folder(KIND, address)
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


_NAME = re.compile(rf'"({KIND}/[^/"]+/seed-\d+|[a-z_]+/[0-9a-f]{{16}})"')
"""The name of a folder, as a string in JSON."""


def dependents(runs: Iterable[Folder], store: Store) -> list[Folder]:
    """Return the runs and texts of a storage that are made from runs, directly or not, without
    these, sorted."""
    made_from = dict(_texts(store))
    described = intact(folders(store), read_description)
    for run, content in described.items():
        made_from[run.name] = set(_run_inputs(run, content))
    origins = {run.name for run in runs}
    reached = set(origins)
    while more := {name for name, inputs in made_from.items() if inputs & reached} - reached:
        reached |= more
    return [Folder(store.root, name) for name in sorted(reached - origins)]


def remove(folders: Iterable[Folder]) -> None:
    """Remove runs and texts; runs no longer offer longer ones their beginning."""
    for folder in folders:
        known = intact([folder], _described)
        if content := known.get(folder):
            _, address, seed = folder.name.split("/")
            prefix = content.get("run", {}).get("prefix")
            Folder(folder.root, f"{PREFIXES}/{prefix}/{seed}").remove(address)
        folder.remove()
        parent = Folder(folder.root, folder.name.rpartition("/")[0])
        if parent.name.count("/") == 1 and not (parent.names() or parent.subfolders()):
            parent.remove()


def size(folder: Folder) -> int:
    """Return the number of bytes in a folder."""
    return sum(info.size for info in folder.contents().values())


def _texts(store: Store) -> Iterator[tuple[str, set[str]]]:
    """Yield the names of all complete folders but runs, with those in their manifests."""
    for kind in Folder(store.root, "").subfolders():
        if kind == KIND or kind.startswith("."):
            continue
        for address in store.addresses(kind):
            folder = store.folder(kind, address)
            with suppress(FileNotFoundError, Damaged):
                yield folder.name, set(_names(folder.read_record(MANIFEST)))


def _described(folder: Folder) -> dict[str, Any]:
    """Return the description of a run; empty for texts, and for a run without one."""
    is_run = folder.name.startswith(f"{KIND}/") and folder.exists(DESCRIPTION)
    return read_description(folder) if is_run else {}


def _run_inputs(run: Folder, content: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the folders that a described run was made from."""
    described = content.get("run", {})
    yield from _names({key: described.get(key) for key in ("views", "records", "tokens", "fits")})
    if described.get("before"):
        yield run_folder(Store(run.root), described["before"], content["seed"]).name


def _names(value: Any) -> list[str]:
    """Return the names of folders in JSON-like values."""
    return _NAME.findall(json.dumps(value))
