"""The history of a run: lines of metrics in its folder, written while it trains.

Rank 0 writes `history.jsonl` anew every few seconds and at every checkpoint, with all records until
then. A resumed run drops exactly the records that it will write again.
"""

from __future__ import annotations

import json
import time
from typing import TypedDict

from augury.core.errors import UserError
from augury.core.messages import say
from augury.core.store import Folder

FILE = "history.jsonl"
FLUSH_SECONDS, REMOTE_FLUSH_SECONDS = 5.0, 30.0
"""The least time between two writings, on a mounted storage and on others, where each takes
requests of those who write and of those who read."""


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
    """Writes the history of a run, as its only process that does."""

    def __init__(self, run: Folder):
        self._run = run
        self._lines: list[str] = []
        self._written, self._flushed = 0, time.monotonic()

    def rewind(self, update: int) -> None:
        """Take up what the run has written, without what came after `update`."""
        try:
            known = read(self._run)
        except UserError:
            say(f"warning: {self._run.location(FILE)} is damaged: it begins anew")
            known = []
        self._lines = [json.dumps(record) for record in known if record["update"] <= update]
        self._written = len(self._lines)

    def add(self, update: int, epochs: float, metrics: dict[str, float]) -> None:
        """Keep a record; it reaches the folder within a few seconds or at the next `flush`."""
        record = Record(update=update, epochs=epochs, time=time.time(), metrics=metrics)
        self._lines.append(json.dumps(record))
        if time.monotonic() - self._flushed > flush_seconds(self._run):
            self.flush()

    def flush(self) -> None:
        """Write the records that wait."""
        if len(self._lines) > self._written:
            self._run.write(FILE, "".join(f"{line}\n" for line in self._lines))
        self._written, self._flushed = len(self._lines), time.monotonic()


def read(run: Folder) -> list[Record]:
    """Return the records of a run, by update; UserError where the file is damaged."""
    try:
        content = run.read(FILE, verified=False)
    except FileNotFoundError:
        return []
    try:
        records: list[Record] = []
        for line in map(json.loads, content.decode().splitlines()):
            update, epochs = line["update"], line["epochs"]
            records.append(
                Record(update=update, epochs=epochs, time=line["time"], metrics=line["metrics"])
            )
        return records
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"{run.location(FILE)} is damaged ({error}): remove it; charts and estimates do without"
        ) from error


def trained_seconds(run: Folder) -> float:
    """Return the time that a training has taken until its last validation."""
    known = (record["metrics"].get("train/seconds", 0.0) for record in read(run))
    return max(known, default=0.0)
