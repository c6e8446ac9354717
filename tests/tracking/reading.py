"""MLflow's side, for tests to look at."""

from __future__ import annotations

from typing import Any

from mlflow import MlflowClient


def recorded(database: str, condition: str = "") -> dict[str, Any]:
    """The runs that a filter finds, by name."""
    client = MlflowClient(database)
    experiment = client.get_experiment_by_name("augury")
    runs = client.search_runs([experiment.experiment_id], condition) if experiment else []
    names = {run.info.run_name: run for run in runs}
    assert len(names) == len(runs)
    return names


def curve(database: str, run: Any, metric: str = "train/loss") -> list[tuple[int, float]]:
    """The points of a metric: step, value."""
    history = MlflowClient(database).get_metric_history(run.info.run_id, metric)
    return [(point.step, point.value) for point in history]


def artifacts(database: str, run: Any, directory: str = "") -> set[str]:
    """The paths of what is kept with a run."""
    return {entry.path for entry in MlflowClient(database).list_artifacts(run.info.run_id, directory)}
