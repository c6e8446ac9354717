"""Where a storage is recorded in MLflow, wherever the storage lies: it can be moved and copied.

A storage has an identity, which its runs carry as a tag in MLflow. MLflow itself keeps absolute
locations of artifacts: those in a SQLite file that was moved are rewritten.
"""

from __future__ import annotations

import functools
import re
import sqlite3
import uuid
from contextlib import closing

from augury.core.locks import locked
from augury.core.store import Folder, Store
from augury.experiments.recording import Place

STORAGE = "augury.storage"
"""The tag with the identity of a storage."""
IDENTITY = "storage.json"
"""The file in the root of a storage with its identity."""

_LOCATIONS = (
    ("experiments", "artifact_location"),
    ("runs", "artifact_uri"),
    ("logged_models", "artifact_location"),
)
"""Tables and columns in which MLflow keeps locations of artifacts."""


def identity(store: Store) -> str:
    """Return the identity of a storage, which its copies share; writes it if there is none.

    That of a remote one is asked for once in a process.
    """
    return _asked_once(store.root) if "://" in store.root else _identity(store)


@functools.cache
def _asked_once(root: str) -> str:
    return _identity(Store(root))


def _identity(store: Store) -> str:
    root = Folder(store.root, "")
    if not root.exists(IDENTITY):
        with locked(Folder(store.root, "storage")):
            if not root.exists(IDENTITY):
                name = re.sub(r"[^\w.-]", "_", store.root.rstrip("/").rpartition("/")[2])
                root.write_record(IDENTITY, {"id": f"{name}-{uuid.uuid4().hex[:8]}"})
    return str(root.read_record(IDENTITY)["id"])


def relocate(place: Place) -> None:
    """Let a SQLite store that was moved or copied find the artifacts beside it.

    The caller holds the lock of the store. Locations in other directories than `mlartifacts` are
    those of other programs, and kept.
    """
    if place.database is None or not place.database.exists():
        return
    assert place.artifacts is not None
    with closing(sqlite3.connect(place.database)) as database, database:
        (is_mlflow,) = database.execute(
            "SELECT count(*) FROM sqlite_master WHERE name = 'experiments'"
        ).fetchone()
        known = (
            database.execute(
                "SELECT DISTINCT artifact_location FROM experiments"
                " WHERE artifact_location LIKE '%/mlartifacts'"
            )
            if is_mlflow
            else ()
        )
        for (earlier,) in [row for row in known if row[0] != place.artifacts]:
            for table, column in _LOCATIONS:
                database.execute(
                    f"UPDATE {table} SET {column} = ? || substr({column}, ?)"
                    f" WHERE {column} = ? OR substr({column}, 1, ?) = ?",
                    (place.artifacts, len(earlier) + 1, earlier, len(earlier) + 1, f"{earlier}/"),
                )
