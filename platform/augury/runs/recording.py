"""The interface of recorders, which receive the events of runs: the caller passes one in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Literal, Protocol

from augury.core.store import Folder, Store
from augury.runs.tracking import Tracking


@dataclass(frozen=True)
class File:
    """A file of a run's storage to keep with its record, in `directory` among its artifacts."""

    folder: Folder
    name: str
    directory: str = ""


Status = Literal["FINISHED", "FAILED"]


class Recorder(Protocol):
    """Records the runs of one command; nothing here raises, or waits for more than seconds."""

    def start(self, run: Folder) -> None:
        """Record that a run begins or continues; its folder holds `run.json`."""

    def follow(self, run: Folder) -> AbstractContextManager[None]:
        """Record the additions to a run's history while the block runs."""

    def finish(self, run: Folder, status: Status, files: Sequence[File] = ()) -> None:
        """Record the end of a run, with its scores, cost and `files`."""


Recording = Callable[[Tracking, Store], AbstractContextManager[Recorder]]
"""Opens a recorder for the runs of a storage."""


class _Unrecorded:
    def start(self, run: Folder) -> None:
        pass

    def follow(self, run: Folder) -> AbstractContextManager[None]:
        return nullcontext()

    def finish(self, run: Folder, status: Status, files: Sequence[File] = ()) -> None:
        pass


@contextmanager
def unrecorded(tracking: Tracking, store: Store) -> Iterator[Recorder]:
    """Open a recorder that records nothing."""
    yield _Unrecorded()
