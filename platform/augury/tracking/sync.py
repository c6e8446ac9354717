"""Brings MLflow up to date with what lies in a storage: at any time, by anyone, as often as one likes.

Nothing is kept of what was sent. Each call asks MLflow what it has and sends the rest, the end of a run last; what a
call could not send, the next one sends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from augury.core.errors import UserError
from augury.core.store import Folder, Store
from augury.experiments import runs
from augury.experiments.tracking import Tracking, place
from augury.reporting.run_files import analyses
from augury.sweeping import state
from augury.tracking.client import MlflowExperiment
from augury.tracking.runs import EXPERIMENTS, ending, noted, sync_experiment, sync_run, unsent_analyses
from augury.tracking.sweeps import ended_alike, sync_sweep

SYNC: dict[str, Callable[[MlflowExperiment, Folder], object]] = {
    runs.KIND: sync_run,
    state.KIND: sync_sweep,
    EXPERIMENTS: sync_experiment,
}
"""By kind of folder."""


class Unreachable(UserError):
    """MLflow cannot be opened."""


def sync(folder: Folder, tracking: Tracking) -> int:
    """Bring MLflow up to date with a run, a sweep and its trials, or what `augury train` has noted of an experiment.

    Returns the number of MLflow's runs that something was sent of. MLflow's errors pass through; UserError where a file
    of the folder is damaged.
    """
    mlflow = MlflowExperiment(place(tracking, Store(folder.root)), tracking.experiment, folder.root)
    with mlflow.alone():
        SYNC[folder.name.partition("/")[0]](mlflow, folder)
    return len(mlflow.sent)


def sync_storage(store: Store, tracking: Tracking, *, everything: bool = True) -> int:
    """Bring MLflow up to date with a storage; returns the number of MLflow's runs that something was sent of.

    Not `everything`: what earlier commands have recorded and could not send. Raises Unreachable, and
    UserError after all were tried where some were not taken.
    """
    target = place(tracking, store)
    mlflow = MlflowExperiment(target, tracking.experiment, store.root)
    try:
        with mlflow.alone():
            mlflow.open()
            known = {record.tags.get("augury.folder", ""): record for record in mlflow.search()}
    except Exception as error:
        raise Unreachable(
            f"MLflow at {without_passwords(target.uri)} cannot be opened ({reason(error)}): start it, or name "
            "another store in MLFLOW_TRACKING_URI or tracking.uri"
        ) from error
    failures = []
    for folder in _folders(store, everything):
        kind, record = folder.name.partition("/")[0], known.get(folder.name)
        if record and (
            not everything and ended_alike(record, folder)
            if kind == state.KIND
            else record.ended(*ending(folder)) and not unsent_analyses(folder, record)
        ):
            continue
        try:
            with mlflow.alone():
                SYNC[kind](mlflow, folder)
        except Exception as error:
            failures.append(f"  {store.root}/{folder.name}: {reason(error)}")
    if failures:
        head = f"MLflow at {without_passwords(target.uri)} took {len(mlflow.sent)} runs but not {len(failures)}"
        raise UserError("\n".join([f"{head}; mend the cause and repeat:", *failures]))
    return len(mlflow.sent)


def _folders(store: Store, everything: bool) -> Iterator[Folder]:
    """Yield the sweeps of a storage, the one started first in front, then the runs that are not theirs."""
    sweeps = [store.folder(state.KIND, name) for name in store.addresses(state.KIND)]
    definitions = {folder: folder.read_json(state.DEFINITION) for folder in sweeps if folder.exists(state.DEFINITION)}
    ours = set()
    for folder in sorted(definitions, key=lambda folder: definitions[folder]["started"]):
        ours |= {entry["address"] for entry in definitions[folder]["configurations"]}
        if everything or noted(folder):
            yield folder
    for run in runs.folders(store):
        own = run.name.split("/")[1] not in ours or analyses(run)  # those of trials go out with no sweep
        if noted(run) or (everything and own):
            yield run
    yield from (store.folder(EXPERIMENTS, name) for name in store.addresses(EXPERIMENTS))


def reason(error: Exception) -> str:
    """Return one line on an error, for people; what the network says tells more than what was made of it."""
    cause: BaseException | None = error
    deepest: BaseException = error
    while cause is not None:
        deepest = cause if isinstance(cause, OSError) else deepest
        cause = cause.__cause__ or cause.__context__
    lines = str(deepest).splitlines() or [type(deepest).__name__]
    return without_passwords(lines[0])[:200]


def without_passwords(text: str) -> str:
    """Return `text` without the passwords of its addresses."""
    return re.sub(r"//[^/@\s]*@", "//", text)
