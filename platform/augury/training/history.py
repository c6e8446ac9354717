"""The history of a run: lines of metrics in its folder, written while it trains.

Rank 0 writes `history/<first update>.jsonl`, a new file every few seconds and at every checkpoint.
No file spans a checkpoint, so that a resumed run drops exactly the records that it will write
again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import TypedDict

from augury.core.directories import TEMPORARY
from augury.core.errors import UserError
from augury.core.store import Folder

KIND = "history"
FLUSH_SECONDS, REMOTE_FLUSH_SECONDS = 5.0, 30.0
"""The time between two files, on a mounted storage and on others, where each takes requests of
those who write and of those who read."""


def flush_seconds(run: Folder) -> float:
    """Return the seconds after which what a run has measured is in its folder."""
    return FLUSH_SECONDS if run.is_local else REMOTE_FLUSH_SECONDS


class Record(TypedDict):
    """Metrics after `update` updates and `epochs` epochs, at `time` in seconds since 1970."""

    update: int
    epochs: float
    time: float
    metrics: dict[str, float]


class History:
    """Writes the history of a run."""

    def __init__(self, run: Folder):
        self._folder = run.sub(KIND)
        self._waiting: list[Record] = []
        self._flushed = time.monotonic()
        self._names: set[str] | None = None  # only this process writes them

    def rewind(self, update: int) -> None:
        """Drop what was written after `update`."""
        self._names = set(self._folder.names())
        for name in sorted(self._names):
            if int(name.partition(".")[0].rstrip("~")) > update:
                self._folder.remove(name)
                self._names.remove(name)

    def add(self, update: int, epochs: float, metrics: dict[str, float]) -> None:
        """Keep a record; it reaches the folder within a few seconds or at the next `flush`."""
        self._waiting.append(
            {"update": update, "epochs": epochs, "time": time.time(), "metrics": metrics}
        )
        if time.monotonic() - self._flushed > flush_seconds(self._folder):
            self.flush()

    def flush(self) -> None:
        """Write the records that wait."""
        if self._waiting:
            if self._names is None:
                self._names = set(self._folder.names())
            name = f"{self._waiting[0]['update']:08d}"
            while f"{name}.jsonl" in self._names:
                name += "~"
            self._names.add(f"{name}.jsonl")
            self._folder.write(
                f"{name}.jsonl", "".join(json.dumps(record) + "\n" for record in self._waiting)
            )
        self._waiting = []
        self._flushed = time.monotonic()


def read(run: Folder, names: Iterable[str] | None = None) -> list[Record]:
    """Return the records of a run, by update; of all files, or of those that are known already."""
    unsorted: list[Record] = []
    for name in files(run) if names is None else names:
        unsorted += records(run, name)
    return sorted(unsorted, key=lambda record: record["update"])


def trained_seconds(run: Folder) -> float:
    """Return the time that a training has taken until its last validation."""
    known = (record["metrics"].get("train/seconds", 0.0) for record in read(run))
    return max(known, default=0.0)


def files(run: Folder) -> dict[str, int]:
    """Return the names and sizes in bytes of history files, which a restart may rewrite."""
    folder = run.sub(KIND)
    infos = folder.contents(below=False)
    return {name: info.size for name, info in infos.items() if not name.startswith(TEMPORARY)}


def records(run: Folder, name: str) -> list[Record]:
    """Return the records of one history file; UserError with its name where it is damaged."""
    content = run.read(f"{KIND}/{name}", verified=False)  # kept, once the run is finished
    try:
        known: list[Record] = []
        for line in map(json.loads, content.decode().splitlines()):
            update, epochs = line["update"], line["epochs"]
            known.append(
                Record(update=update, epochs=epochs, time=line["time"], metrics=line["metrics"])
            )
        return known
    except (ValueError, KeyError, TypeError) as error:
        where = run.location(f"{KIND}/{name}")
        raise UserError(
            f"{where} is damaged ({error}): remove it, only MLflow and charts use it"
        ) from error
