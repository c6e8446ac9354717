"""How runs are recorded in MLflow: settings, the store that they mean, and who records there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from augury.core.config import Section
from augury.core.errors import UserError
from augury.core.store import Folder, Store

SCHEMES = ("http", "https", "sqlite", "postgresql", "mysql", "mssql", "databricks")


def check_uri(uri: str) -> str:
    """Return `uri`; raise UserError where MLflow cannot record there."""
    scheme = uri.partition(":")[0].partition("+")[0]
    if scheme not in SCHEMES or (scheme == "sqlite" and not uri.startswith("sqlite:///")):
        raise UserError(
            f"'{uri}' is no MLflow store: give the address of a server (http://host:5000) or a "
            "SQLite file (sqlite:///runs.db, with a fourth slash for an absolute path)"
        )
    return uri


class Tracking(Section):
    """How runs are recorded in MLflow."""

    enabled: bool = True
    """Whether runs are recorded at all."""
    uri: Annotated[str, AfterValidator(check_uri)] | None = None
    """An MLflow server (http://host:5000) or database (sqlite:///runs.db). Without it
    MLFLOW_TRACKING_URI counts, then a SQLite file in the storage, or in the working directory where
    the storage is remote."""
    experiment: str = Field("augury", min_length=1)
    """The MLflow experiment that the runs belong to."""


def mlflow_uri(tracking: Tracking, store: Store) -> str:
    """Return the URI of the MLflow store that `tracking` means for runs in `store`; UserError for
    an invalid address."""
    if tracking.uri is not None:
        return tracking.uri
    if os.environ.get("MLFLOW_TRACKING_URI"):
        return check_uri(os.environ["MLFLOW_TRACKING_URI"])
    directory = Path.cwd() if "://" in store.root else Path(store.root)
    return f"sqlite:///{directory / 'mlflow.db'}"


Recorder = Callable[[Folder], None]
"""Records a run, whose folder holds `run.json`, or a sweep, from its call to the end of the
command; it does not raise."""
Recording = Callable[[Tracking, Store], AbstractContextManager[Recorder]]
"""Opens a recorder for the runs of a storage; its end waits for seconds at most."""


@contextmanager
def unrecorded(tracking: Tracking, store: Store) -> Iterator[Recorder]:
    """Open a recorder that records nothing."""
    yield lambda folder: None
