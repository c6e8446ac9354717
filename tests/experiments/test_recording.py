"""Where runs are recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.store import Store
from augury.experiments.recording import Place, Tracking, place


def test_the_default_is_a_sqlite_file_in_the_storage(tmp_path: Path) -> None:
    database = tmp_path / "results" / "mlflow.db"
    expected = Place(f"sqlite:///{database}", str(tmp_path / "results" / "mlartifacts"), database)
    assert place(Tracking(), Store(tmp_path / "results")) == expected


def test_a_remote_storage_and_relative_files_begin_at_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert place(Tracking(), Store("mock://bucket")).uri == f"sqlite:///{tmp_path}/mlflow.db"
    location = place(Tracking(uri="sqlite:///here/runs.db?timeout=5"), Store(tmp_path))
    assert location.database == tmp_path / "here" / "runs.db"
    assert location.artifacts == str(tmp_path / "here" / "mlartifacts")


def test_the_setting_wins_over_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://lab:5000")
    assert place(Tracking(), Store(tmp_path)) == Place("http://lab:5000", None, None)
    assert place(Tracking(uri="https://other:1"), Store(tmp_path)).uri == "https://other:1"
