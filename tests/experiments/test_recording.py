"""Where runs are recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.store import Store
from augury.experiments.recording import Place, Tracking, place


def test_the_setting_wins_over_the_environment_and_that_over_the_storage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Relative files and those of a remote storage begin at the working directory."""
    monkeypatch.chdir(tmp_path)
    database = tmp_path / "results" / "mlflow.db"
    expected = Place(f"sqlite:///{database}", str(tmp_path / "results" / "mlartifacts"), database)
    assert place(Tracking(), Store(tmp_path / "results")) == expected
    assert place(Tracking(), Store("mock://bucket")).uri == f"sqlite:///{tmp_path}/mlflow.db"
    location = place(Tracking(uri="sqlite:///here/runs.db?timeout=5"), Store(tmp_path))
    assert location.database == tmp_path / "here" / "runs.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://lab:5000")
    assert place(Tracking(), Store(tmp_path)) == Place("http://lab:5000", None, None)
    assert place(Tracking(uri="https://other:1"), Store(tmp_path)).uri == "https://other:1"
