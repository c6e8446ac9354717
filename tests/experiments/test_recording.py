"""Where runs are recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.store import Store
from augury.experiments.recording import Tracking, mlflow_uri


def test_the_setting_wins_over_the_environment_and_that_over_the_storage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Relative files and those of a remote storage begin at the working directory."""
    monkeypatch.chdir(tmp_path)
    results = tmp_path / "results"
    assert mlflow_uri(Tracking(), Store(results)) == f"sqlite:///{results}/mlflow.db"
    assert mlflow_uri(Tracking(), Store("mock://bucket")) == f"sqlite:///{tmp_path}/mlflow.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://lab:5000")
    assert mlflow_uri(Tracking(), Store(tmp_path)) == "http://lab:5000"
    assert mlflow_uri(Tracking(uri="https://other:1"), Store(tmp_path)) == "https://other:1"
