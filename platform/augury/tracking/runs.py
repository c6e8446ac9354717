"""Run folders (`runs/<address>/seed-<n>`): which there are and what must be known of them."""

from __future__ import annotations

from augury.corpora.corpus import KIND as CORPORA
from augury.store import Folder, Store

KIND = "runs"
DESCRIPTION = "run.json"
SCORES = "scores.json"

NO_TESTS = (
    "there are no test sets (corpus.tests): validation decides, by which weights and the end of training are chosen "
    "too, so that its scores are better than those on unseen text"
)
"""What must be known of runs that no test set measures."""


def run_folder(store: Store, address: str, seed: int) -> Folder:
    """Return where the run of a configuration with a seed lies."""
    return store.folder(KIND, f"{address}/seed-{seed}")


def folders(store: Store) -> list[Folder]:
    """The folders of all runs that training has described."""
    groups = [store.folder(KIND, address) for address in store.addresses(KIND)]
    runs = [group.sub(name) for group in groups for name in group.subfolders() if name.startswith("seed-")]
    return [run for run in runs if run.exists(DESCRIPTION)]


def notes(run: Folder) -> list[str]:
    """What must be known of the texts of a run, such as that they are synthetic."""
    inputs = [Folder(run.root, f"{CORPORA}/{given['address']}") for given in run.read_json(DESCRIPTION)["inputs"]]
    found = [_note(corpus) for corpus in inputs]
    return list(dict.fromkeys(note for note in found if note))


def _note(corpus: Folder) -> str | None:
    """What a corpus says of itself; a complete one does not change, and many runs share it."""
    if corpus not in _noted:
        if not corpus.complete:
            return None
        _noted[corpus] = corpus.manifest().get("note")
    return _noted[corpus]


_noted: dict[Folder, str | None] = {}
