"""Run folders (`runs/<address>/seed-<n>`): which there are and the history that training leaves in them."""

from __future__ import annotations

import json

from pyarrow import fs

from augury.corpora.corpus import KIND as CORPORA
from augury.errors import UserError
from augury.store import Folder, Store
from augury.training.history import Record

KIND = "runs"
DESCRIPTION = "run.json"
SCORES = "scores.json"
HISTORY = "history"


def folders(store: Store) -> list[Folder]:
    """The folders of all runs that training has described."""
    groups = [store.folder(KIND, address) for address in store.addresses(KIND)]
    runs = [group.sub(name) for group in groups for name in group.subfolders() if name.startswith("seed-")]
    return [run for run in runs if run.exists(DESCRIPTION)]


def notes(run: Folder) -> list[str]:
    """What must be known of the texts of a run, such as that they are synthetic."""
    inputs = [Folder(run.root, f"{CORPORA}/{given['address']}") for given in run.read_json(DESCRIPTION)["inputs"]]
    found = [corpus.manifest().get("note") for corpus in inputs if corpus.complete]
    return list(dict.fromkeys(note for note in found if note))


def history(run: Folder) -> list[Record]:
    """All records of a run, by update."""
    found = [record for name in history_files(run) for record in records(run, name)]
    return sorted(found, key=lambda record: record["update"])


def history_files(run: Folder) -> dict[str, int]:
    """The names of the history files and their sizes in bytes; a restarted run may write a name anew."""
    folder = run.sub(HISTORY)
    infos = folder.filesystem.get_file_info(fs.FileSelector(folder.path(), allow_not_found=True))
    return {info.base_name: info.size for info in infos if not info.base_name.startswith(".tmp-")}


def records(run: Folder, name: str) -> list[Record]:
    """The records of one history file; UserError names a file that is damaged."""
    folder = run.sub(HISTORY)
    try:
        lines = [json.loads(line) for line in folder.read(name).decode().splitlines()]
        return [Record(update=line["update"], epoch=line["epoch"], time=line["time"], metrics=line["metrics"])
                for line in lines]  # fmt: skip
    except (ValueError, KeyError, TypeError) as error:
        where = f"{folder.uri}/{name}"
        raise UserError(f"{where} is damaged ({error}): remove it, only MLflow and charts use it") from error
