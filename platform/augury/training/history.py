"""What a run has to say while it trains: lines of metrics in the run's folder, from which everything else reads.

Rank 0 writes `history/<first update>.jsonl`, a new file every few seconds and at every checkpoint. No file spans a
checkpoint, so that a resumed run drops exactly the records that it will write again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any, TypedDict

from augury.store import Folder

FLUSH_SECONDS = 5.0


class Record(TypedDict):
    """Metrics after `update` updates, in epoch `epoch`, at `time` (seconds since 1970)."""

    update: int
    epoch: int
    time: float
    metrics: dict[str, float]


class History:
    """The writer's side."""

    def __init__(self, run: Folder):
        self._folder = run.sub("history")
        self._waiting: list[Record] = []
        self._flushed = time.monotonic()

    def rewind(self, update: int) -> None:
        """Drop what was written after `update`."""
        for name in self._folder.names():
            if _first(name) > update:
                self._folder.remove(name)

    def add(self, update: int, epoch: int, metrics: dict[str, float]) -> None:
        """Keep a record; it reaches the folder within a few seconds or at the next `flush`."""
        self._waiting.append({"update": update, "epoch": epoch, "time": time.time(), "metrics": metrics})
        if time.monotonic() - self._flushed > FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        if self._waiting:
            name = f"{self._waiting[0]['update']:08d}"
            while self._folder.exists(f"{name}.jsonl"):
                name += "~"
            self._folder.write(f"{name}.jsonl", "".join(json.dumps(record) + "\n" for record in self._waiting))
        self._waiting = []
        self._flushed = time.monotonic()


def read(run: Folder, after: int = -1) -> Iterator[Record]:
    """The records of a run in order; those of files that start at or before `after` are left out."""
    folder = run.sub("history")
    for name in folder.names():
        if _first(name) > after:
            for line in folder.read(name).decode().splitlines():
                record: Any = json.loads(line)
                yield record


def _first(name: str) -> int:
    return int(name.partition(".")[0].rstrip("~"))
