"""What MLflow has, for tests to look at."""

from __future__ import annotations

from typing import Any

from mlflow import MlflowClient


def search(database: str, condition: str = "") -> dict[str, Any]:
    """The runs that a filter finds, by name."""
    client = MlflowClient(database)
    found = client.search_runs([client.get_experiment_by_name("augury").experiment_id], condition)
    names = {run.info.run_name: run for run in found}
    assert len(names) == len(found)
    return names


def values(database: str, run: Any, metric: str) -> list[float]:
    return [point.value for point in MlflowClient(database).get_metric_history(run.info.run_id, metric)]
