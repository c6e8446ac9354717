"""A storage that is moved or copied keeps its runs and artifacts in MLflow."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient

from augury.core.store import Folder, Store
from augury.experiments.recording import Tracking
from augury.tracking.location import STORAGE, identity
from augury.tracking.sync import sync, sync_storage
from tests.run_folders import ADDRESS, Run
from tests.tracking.reading import artifacts, logged_runs

NAME = "cipherdaug seed 3"


@pytest.fixture
def storage(tmp_path: Path, empty_database: Path) -> Store:
    """A storage with a finished run and its own SQLite store."""
    store = Store(tmp_path / "results")
    run = Run(store.folder("runs", f"{ADDRESS}/seed-3"))
    run.scores()
    run.folder.finish({})
    shutil.copyfile(empty_database, f"{store.root}/mlflow.db")
    sync_storage(store, Tracking())
    return store


def database(store: Store) -> str:
    return f"sqlite:///{store.root}/mlflow.db"


def ids(store: Store) -> dict[str, str]:
    return {name: run.info.run_id for name, run in logged_runs(database(store)).items()}


def test_a_moved_storage_keeps_its_runs_and_their_artifacts(storage: Store, tmp_path: Path) -> None:
    before = ids(storage)
    moved = Store(shutil.move(storage.root, tmp_path / "moved"))
    assert sync_storage(moved, Tracking()) == 0
    assert ids(moved) == before
    assert "scores.json" in artifacts(database(moved), logged_runs(database(moved))[NAME])
    Run(moved.folder("runs", f"{ADDRESS}/seed-4")).describe(seed=4)
    assert sync_storage(moved, Tracking()) == 1
    assert not Path(storage.root).exists()


def test_a_copy_has_artifacts_of_its_own(storage: Store, tmp_path: Path) -> None:
    copy = Store(shutil.copytree(storage.root, tmp_path / "copy"))
    sync_storage(copy, Tracking())
    for store in (storage, copy):
        uri = logged_runs(database(store))[NAME].info.artifact_uri
        assert Path(uri.removeprefix("file://")).is_relative_to(store.root)


def test_a_server_knows_a_storage_by_another_path(
    run: Any, store: Store, database: str, tmp_path: Path
) -> None:
    sync(run.folder, Tracking(uri=database))
    moved = Store(shutil.move(store.root, tmp_path / "mounted"))
    sync(Folder(moved.root, run.folder.name), Tracking(uri=database))
    assert identity(moved) == logged_runs(database)[NAME].data.tags[STORAGE]
    assert set(logged_runs(database)) == {NAME, "ciphers"}


def test_experiments_of_other_programs_keep_their_location(storage: Store, tmp_path: Path) -> None:
    MlflowClient(database(storage)).create_experiment("theirs", "/elsewhere/artifacts")
    moved = Store(shutil.move(storage.root, tmp_path / "moved"))
    sync_storage(moved, Tracking())
    theirs = MlflowClient(database(moved)).get_experiment_by_name("theirs")
    assert theirs is not None and theirs.artifact_location == "/elsewhere/artifacts"


def test_two_storages_of_one_name_have_two_identities(tmp_path: Path) -> None:
    stores = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        stores.append(Store(tmp_path / name / "results"))
    assert identity(stores[0]) != identity(stores[1])
    assert identity(stores[0]).startswith("results-")
