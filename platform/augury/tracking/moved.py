"""A SQLite store of MLflow that is moved, mostly together with the storage that it lies in.

MLflow keeps absolute paths of artifacts; they are set anew when the store is opened in another
directory. Runs name their storage by its path from the store.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from augury.experiments.tracking import Place

STORAGE = "augury.storage"
"""The tag with the storage that a run mirrors."""
PATHS = {"runs": "artifact_uri", "logged_models": "artifact_location"}
"""Table -> its column of paths below that of the experiment."""


def storage_name(place: Place, root: str) -> str:
    """Return the name of a storage in MLflow: its path from a local store, else its address."""
    if place.database is None or "://" in root:
        return root
    return os.path.relpath(root, place.database.parent)


def follow_move(place: Place) -> None:
    """Set the paths in a SQLite store to those of its present directory.

    Artifacts elsewhere than beside the store stay there.
    """
    if place.database is None or place.artifacts is None or not place.database.exists():
        return
    new = Path(place.artifacts)
    with closing(sqlite3.connect(place.database)) as database, database:
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'tags'").fetchone():
            return
        locations = database.execute("SELECT DISTINCT artifact_location FROM experiments")
        for old in [Path(location) for (location,) in locations.fetchall() if location]:
            if old.name != new.name:
                continue
            _shorten_names(database, old.parent)
            if old != new and (new.exists() or not old.exists()):
                _set_paths(database, str(old), str(new))


def _shorten_names(database: sqlite3.Connection, directory: Path) -> None:
    """Set absolute names of storages, of Augury 0.2, to the paths from the store's directory."""
    query = "SELECT DISTINCT value FROM tags WHERE key = ? AND value LIKE '/%'"
    for (name,) in database.execute(query, (STORAGE,)).fetchall():
        database.execute(
            "UPDATE tags SET value = ? WHERE key = ? AND value = ?",
            (os.path.relpath(name, directory), STORAGE, name),
        )


def _set_paths(database: sqlite3.Connection, old: str, new: str) -> None:
    database.execute(
        "UPDATE experiments SET artifact_location = ? WHERE artifact_location = ?", (new, old)
    )
    for table, column in PATHS.items():
        database.execute(
            f"UPDATE {table} SET {column} = ? || substr({column}, ?)"
            f" WHERE substr({column}, 1, ?) = ?",
            (new, len(old) + 1, len(old) + 1, f"{old}/"),
        )
