"""A store of MLflow in a storage that is moved."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient
from mlflow.tracking._tracking_service import utils

from augury.core.store import Folder, Store
from augury.experiments.tracking import Tracking
from augury.tracking.sync import sync, sync_storage
from tests.tracking.reading import artifacts, logged_runs

NAME = "cipherdaug seed 3"


@pytest.fixture
def moved(run: Any, store: Store, empty_database: Path, tmp_path: Path) -> Store:
    """A storage with its own store of MLflow and a finished run, in another place."""
    shutil.copyfile(empty_database, Path(store.root, "mlflow.db"))
    run.scores()
    run.folder.finish({})
    sync(run.folder, Tracking())
    shutil.move(store.root, tmp_path / "elsewhere")
    utils._artifact_repos_cache.clear()  # as in another process, which has no places of artifacts
    return Store(tmp_path / "elsewhere")


def test_a_moved_storage_finds_its_runs_and_artifacts(moved: Store, run: Any) -> None:
    again = Folder(moved.root, run.folder.name)
    assert sync_storage(moved, Tracking()) == 0
    again.sub("analyses/test").write("outputs.json", "{}")
    assert sync_storage(moved, Tracking()) == 1
    database = f"sqlite:///{moved.root}/mlflow.db"
    (logged,) = [of for name, of in logged_runs(database).items() if name == NAME]
    assert {"scores.json", "analyses"} <= artifacts(database, logged)
    path = MlflowClient(database).download_artifacts(logged.info.run_id, "hypotheses/test.txt")
    assert Path(path).read_text() == "a house\n"


def test_no_path_of_the_old_place_is_left(moved: Store, store: Store) -> None:
    sync_storage(moved, Tracking())
    with sqlite3.connect(Path(moved.root, "mlflow.db")) as database:
        dump = "\n".join(database.iterdump())
    assert f"{store.root}/" not in dump


def test_absolute_names_of_storages_become_relative(moved: Store, store: Store) -> None:
    with sqlite3.connect(Path(moved.root, "mlflow.db")) as database:
        update = "UPDATE tags SET value = ? WHERE key = 'augury.storage'"
        database.execute(update, (store.root,))
    assert sync_storage(moved, Tracking()) == 0
