"""Sync a storage to MLflow, idempotently and from any process.

No record is kept of sent data: each call asks MLflow for its current state and sends the rest, the
end of a run last. What one call could not send, the next one sends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from augury.core.errors import UserError
from augury.core.progress import say
from augury.core.secrets import redacted
from augury.core.store import Folder, Store
from augury.experiments import stored_runs
from augury.experiments.record import KIND, RunRecord
from augury.experiments.recording import Tracking
from augury.reporting.run_files import analyses
from augury.sweeping import state
from augury.tracking.client import FOLDER, MlflowExperiment, ended
from augury.tracking.runs import (
    EXPERIMENTS,
    experiment_status,
    has_unsent_analyses,
    read_record,
    run_status,
    sync_experiment,
    sync_run,
)
from augury.tracking.sweeps import sweep_ended, sync_sweep

if TYPE_CHECKING:
    from mlflow.entities import Run

SYNC: dict[str, Callable[[MlflowExperiment, Folder], object]] = {
    KIND: sync_run,
    state.KIND: sync_sweep,
    EXPERIMENTS: sync_experiment,
}
"""By kind of folder."""


class Unreachable(UserError):
    """MLflow cannot be reached."""


def sync(folder: Folder, tracking: Tracking) -> int:
    """Sync a run, a sweep with its trials, or the parent run of an experiment to MLflow.

    Returns the number of MLflow runs that were created or changed. Errors of MLflow propagate;
    raises UserError if a file of the folder is corrupt.
    """
    store = Store(folder.root)
    mlflow = MlflowExperiment(tracking, store)
    with mlflow.lock():
        SYNC[_kind(folder)](mlflow, folder)
    return len(mlflow.updated)


def sync_storage(store: Store, tracking: Tracking, *, everything: bool = True) -> int:
    """Sync a storage to MLflow and return the number of MLflow runs that were created or changed.

    Unless `everything`, only syncs folders that commands have tracked. Raises Unreachable if MLflow
    cannot be reached, and UserError after trying all folders if some could not be synced.
    """
    mlflow = MlflowExperiment(tracking, store)
    address = redacted(mlflow.place.uri)
    try:
        with mlflow.lock():
            logged = {run.data.tags.get(FOLDER, ""): run for run in mlflow.search()}
    except Exception as error:
        raise Unreachable(
            f"cannot reach MLflow at {address} ({reason(error)}): start it, or set "
            "MLFLOW_TRACKING_URI or tracking.uri to another store"
        ) from error
    failures = []
    for folder in _folders(store, everything):
        try:
            if folder.name in logged and _up_to_date(folder, logged[folder.name], everything):
                continue
            with mlflow.lock():
                SYNC[_kind(folder)](mlflow, folder)
        except Exception as error:
            failures.append(f"  {store.root}/{folder.name}: {reason(error)}")
    if failures:
        summary = f"MLflow at {address}: {len(mlflow.updated)} runs synced, {len(failures)} failed"
        raise UserError(
            "\n".join([f"{summary}; fix the errors and repeat the command:", *failures])
        )
    return len(mlflow.updated)


def forget(store: Store, folders: Iterable[Folder]) -> None:
    """Delete runs, which are being deleted from a storage, from its MLflow store."""
    _change(store, folders, lambda mlflow, _, run: mlflow.client.delete_run(run.info.run_id))


def _change(
    store: Store,
    folders: Iterable[Folder],
    change: Callable[[MlflowExperiment, Folder, Run], object],
) -> None:
    """Apply a change to the tracked ones of runs in the MLflow store of a storage.

    The experiment of the first of them decides where that is; an outage is said, and no error.
    """
    runs = [folder for folder in folders if folder.name.startswith(f"{KIND}/")]
    if not any(read_record(run) for run in runs):
        return
    records = stored_runs.intact(runs, RunRecord.read)
    settings = next((record.parameters for record in records.values()), {})
    known = {key: settings.get(f"tracking.{key}") for key in ("uri", "experiment")}
    tracking = Tracking(**{key: value for key, value in known.items() if value is not None})
    mlflow = MlflowExperiment(tracking, store)
    try:
        with mlflow.lock():
            for run in runs:
                if logged := mlflow.find(folder=run.name):
                    change(mlflow, run, logged)
    except Exception as error:
        address = redacted(mlflow.place.uri)
        say(f"MLflow at {address} keeps the runs as they are: it is unavailable ({reason(error)})")


def _kind(folder: Folder) -> str:
    return folder.name.partition("/")[0]


def _up_to_date(folder: Folder, logged: Run, everything: bool) -> bool:
    if _kind(folder) == state.KIND:
        return not everything and sweep_ended(logged, folder)
    if _kind(folder) == EXPERIMENTS:
        return ended(logged, *experiment_status(folder))
    return ended(logged, *run_status(folder)) and not has_unsent_analyses(folder, logged)


def _folders(store: Store, everything: bool) -> Iterator[Folder]:
    """Yield the sweeps of a storage in the order in which they started, other runs, and
    experiments."""
    definitions = state.definitions(store)
    swept = set()
    for name in sorted(definitions, key=lambda name: definitions[name]["started"]):
        folder = store.folder(state.KIND, name)
        swept |= {entry["address"] for entry in definitions[name]["configurations"]}
        if everything or read_record(folder):
            yield folder
    for run in stored_runs.folders(store):
        # Sweeps do not sync analyses of trials.
        standalone = run.name.split("/")[1] not in swept or analyses(run)
        if read_record(run) or (everything and standalone):
            yield run
    yield from (store.folder(EXPERIMENTS, name) for name in store.addresses(EXPERIMENTS))


def reason(error: Exception) -> str:
    """Return one line about an error.

    Prefers an underlying network error over the exceptions that wrap it.
    """
    cause: BaseException | None = error
    deepest: BaseException = error
    while cause is not None:
        deepest = cause if isinstance(cause, OSError) else deepest
        cause = cause.__cause__ or cause.__context__
    lines = str(deepest).splitlines() or [type(deepest).__name__]
    return redacted(lines[0])[:200]
