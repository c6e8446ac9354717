"""What depends on runs: later stages of training, texts that their models made, and what was
trained on those."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from augury.core.integrity import Damaged
from augury.core.store import MANIFEST, Folder, Store
from augury.runs import stored_runs
from augury.runs.record import DESCRIPTION, KIND, read_description, run_folder
from augury.training.trained import PREFIXES

_NAME = re.compile(rf'"({KIND}/[^/"]+/seed-\d+|[a-z_]+/[0-9a-f]{{16}})"')
"""The name of a folder, as a string in JSON."""


def dependents(runs: Iterable[Folder], store: Store) -> list[Folder]:
    """Return the runs and texts of a storage that are made from runs, directly or not, without
    these, sorted."""
    made_from = dict(_texts(store))
    described = stored_runs.intact(stored_runs.folders(store), read_description)
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
        known = stored_runs.intact([folder], _described)
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
