"""Run folders (`runs/<address>/seed-<n>`): find them, and the notes on their texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from augury.core.errors import UserError, unknown
from augury.core.messages import say_once
from augury.core.store import Folder, Store
from augury.corpora.corpus import KIND as CORPORA
from augury.runs.record import DESCRIPTION, KIND, Input, RunRecord, run_folder

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
    corpora_notes = [_note(Folder(run.root, f"{CORPORA}/{text.address}")) for text in inputs]
    return list(dict.fromkeys(note for note in corpora_notes if note))


def _note(corpus: Folder) -> str | None:
    """Return the note of a corpus, cached: a complete corpus does not change, and many runs
    share it."""
    if corpus not in _notes:
        if not corpus.complete:
            return None
        _notes[corpus] = corpus.manifest().get("note")
    return _notes[corpus]


_notes: dict[Folder, str | None] = {}
