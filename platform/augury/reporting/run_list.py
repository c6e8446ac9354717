"""The runs of a storage as a list: name, state, score, date, cost and size of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, get_args

from augury.core.locks import is_locked
from augury.core.progress import duration
from augury.core.store import Folder, Store
from augury.experiments import stored_runs
from augury.experiments.record import RunRecord
from augury.experiments.stored_runs import size
from augury.reporting import run_names
from augury.reporting.numbers import number
from augury.reporting.tables import Cell, Table, cell, records
from augury.scoring.registry import title
from augury.scoring.stored import Score
from augury.training.trained import FAILURE

State = Literal["scored", "trained", "running", "failed", "unfinished", "damaged"]
STATES: tuple[State, ...] = get_args(State)


@dataclass(frozen=True)
class StoredRun:
    """A run of a storage, as a list shows it."""

    name: str
    """`EXPERIMENT/SYSTEM/SEED`."""
    folder: Folder
    record: RunRecord
    state: State
    """trained: not scored; unfinished: interrupted, or ended by a budget; damaged: of which nothing
    can be read but the folder."""
    date: datetime

    @cached_property
    def bytes(self) -> int:
        """The size of its folder."""
        return size(self.folder)

    @property
    def score(self) -> tuple[str, Score] | None:
        """The first test set with its deciding score."""
        return next(((test, scores[0]) for test, scores in self.record.tests.items()), None)

    @property
    def seconds(self) -> float | None:
        """The processor time of all trainings behind the run or, where that is not known, their
        wall time."""
        cost = self.record.cost
        if cost is None:
            return None
        return cost.train_seconds if cost.cpu_seconds is None else cost.cpu_seconds

    def duration(self, seconds: float) -> str:
        """Return its time for people, with the clock where that is not the processor's."""
        cost = self.record.cost
        wall = cost is not None and cost.cpu_seconds is None
        return f"{duration(seconds)} (wall)" if wall else duration(seconds)

    def to_dict(self) -> dict[str, Any]:
        """Return the run as JSON-like values."""
        test, score = self.score or (None, None)
        return {
            "name": self.name,
            "system": self.record.name,
            "experiment": self.record.experiment,
            "seed": self.record.seed,
            "task": self.record.task,
            "state": self.state,
            "test": test,
            "metric": score and score.name,
            "score": score and score.value,
            "date": self.date.isoformat(timespec="seconds"),
            "seconds": self.seconds,
            "bytes": self.bytes,
            "run": self.folder.uri,
        }


def stored(store: Store) -> list[StoredRun]:
    """Return the runs of a storage that training has described, the latest first."""
    names: dict[Folder, str] = {}
    for of in run_names.named_runs(store):
        for seed, folder in of.seeds.items():
            if "/" in of.name:
                names.setdefault(folder, of.name if of.name == folder.name else f"{of.name}/{seed}")
    records = stored_runs.intact(names, RunRecord.read)
    runs = []
    for run, name in names.items():
        _, address, seed_name = run.name.split("/")
        unknown = RunRecord(name, address, int(seed_name.removeprefix("seed-")), task=None)
        state = _state(run, records[run]) if run in records else "damaged"
        date = run_names.date(run)
        runs.append(StoredRun(name, run, records.get(run, unknown), state, date))
    return sorted(runs, key=lambda run: (run.date, run.name), reverse=True)


def run_table(runs: Sequence[StoredRun]) -> Table:
    """Return the table of runs for a terminal, with the score on the first test set."""
    rows = []
    for run in runs:
        test, score = run.score or (None, None)
        shown = f"{test}: {title(score.name)} {number(score.value)}" if score else ""
        scored = {"score": Cell(shown, score.value if score else None)}
        names = {"run": run.name, "task": run.record.task or "", "state": run.state}
        rows.append(names | scored | _costs(run) | {"size": cell(run.bytes, size_text)})
    return records(rows, kind="words")


def _costs(run: StoredRun) -> dict[str, object]:
    return {"date (UTC)": f"{run.date:%Y-%m-%d %H:%M}", "CPU time": cell(run.seconds, run.duration)}


def size_text(count: float) -> str:
    """Return a number of bytes with its unit: `3.2 MB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def _state(run: Folder, record: RunRecord) -> State:
    if run.complete:
        return "scored" if record.evaluated else "trained"
    if is_locked(run):
        return "running"
    return "failed" if run.exists(FAILURE) else "unfinished"
