"""The settings of MLflow, the store that they mean, and who records runs there while they train."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import Field, field_validator

from augury.core.config import Section
from augury.core.errors import UserError
from augury.core.store import Folder, Store

SCHEMES = ("http", "https", "sqlite", "postgresql", "mysql", "mssql", "databricks")


class Tracking(Section):
    """How runs are recorded in MLflow."""

    enabled: bool = True
    """Whether runs are recorded at all."""
    uri: str | None = None
    """An MLflow server (http://host:5000) or database (sqlite:///runs.db). Without it
    MLFLOW_TRACKING_URI counts, then a SQLite file in the storage, or in the working directory where
    the storage is remote."""
    experiment: str = Field("augury", min_length=1)
    """The MLflow experiment that the runs belong to."""

    @field_validator("uri")
    @classmethod
    def _usable(cls, uri: str | None) -> str | None:
        return uri if uri is None else check(uri)


@dataclass(frozen=True)
class Place:
    """An MLflow store; `artifacts` is None where a server decides where files go."""

    uri: str
    artifacts: str | None
    database: Path | None
    """The file of a SQLite store."""


def place(tracking: Tracking, store: Store) -> Place:
    """Return the MLflow store that `tracking` means for runs in `store`; UserError for an
    invalid address."""
    uri = tracking.uri
    if uri is None and os.environ.get("MLFLOW_TRACKING_URI"):
        uri = check(os.environ["MLFLOW_TRACKING_URI"])
    if uri is None:
        directory = Path.cwd() if "://" in store.root else Path(store.root)
        uri = f"sqlite:///{directory / 'mlflow.db'}"
    if not uri.startswith("sqlite:///"):
        return Place(uri, None, None)
    database = Path(uri.removeprefix("sqlite:///").partition("?")[0]).resolve()
    return Place(uri, str(database.parent / "mlartifacts"), database)


def check(uri: str) -> str:
    """Return `uri`; raise UserError where MLflow cannot record there."""
    scheme = uri.partition(":")[0].partition("+")[0]
    if scheme not in SCHEMES or (scheme == "sqlite" and not uri.startswith("sqlite:///")):
        raise UserError(
            f"'{uri}' is no MLflow store: give the address of a server (http://host:5000) or a "
            "SQLite file (sqlite:///runs.db, with a fourth slash for an absolute path)"
        )
    return uri


class Recorder(Protocol):
    """Records the runs of one command; nothing here raises, or waits for more than seconds."""

    def follow(self, folder: Folder) -> AbstractContextManager[None]:
        """Record a run, whose folder holds `run.json`, or a sweep while the block runs, and what
        has become of it."""


Recording = Callable[[Tracking, Store], AbstractContextManager[Recorder]]
"""Opens a recorder for the runs of a storage."""


class _Unrecorded:
    def follow(self, folder: Folder) -> AbstractContextManager[None]:
        return nullcontext()


@contextmanager
def unrecorded(tracking: Tracking, store: Store) -> Iterator[Recorder]:
    """Open a recorder that records nothing."""
    yield _Unrecorded()
