"""Systems that a storage has for a test set: what is known of the variance between seeds before
a comparison."""

from __future__ import annotations

from collections.abc import Iterable

from augury.core.store import Folder, Store
from augury.reporting import run_files
from augury.reporting.resampling import resample_runs
from augury.runs import stored_runs
from augury.runs.record import RunRecord
from augury.scoring.bootstrap import Resampled

MOST_SYSTEMS = 8
"""Enough for a variance; more take time."""
SAMPLES = 200
"""Bootstrap samples: enough for a variance."""


def stored_systems(
    store: Store, text: str, metric: str, *, train: str | None = None, without: Iterable[str] = ()
) -> list[Resampled]:
    """Return systems of several seeds that are scored on a test set, given by the address of its
    text.

    `train` is the address of a training corpus that they must have read, `without` are addresses of
    systems to leave out.
    """
    groups: dict[str, list[tuple[Folder, RunRecord]]] = {}
    names: dict[str, str] = {}
    for run in stored_runs.folders(store):
        if not run_files.is_scored(run):
            continue
        record = RunRecord.read(run)
        inputs = {corpus.address: corpus.role for corpus in record.inputs}
        if (
            text not in inputs
            or record.address in without
            or (train is not None and inputs.get(train) != "train")
        ):
            continue
        if any(score.name == metric for score in record.tests.get(inputs[text], ())):
            groups.setdefault(record.address, []).append((run, record))
            names[record.address] = inputs[text]
    several = [address for address, group in groups.items() if len(group) > 1][:MOST_SYSTEMS]
    systems = [
        resample_runs(groups[address], names[address], metric, SAMPLES) for address in several
    ]
    return [system for system in systems if system is not None]
