"""Read runs, curves and artifacts from MLflow."""

from __future__ import annotations

from typing import Any

from mlflow import MlflowClient


def logged_runs(database: str, filter_string: str = "") -> dict[str, Any]:
    """Return the runs that match a filter by name; fails if a name occurs twice."""
    client = MlflowClient(database)
    experiment = client.get_experiment_by_name("augury")
    runs = client.search_runs([experiment.experiment_id], filter_string) if experiment else []
    names = {run.info.run_name: run for run in runs}
    assert len(names) == len(runs)
    return names


def curve(database: str, run: Any, metric: str = "train/loss") -> list[tuple[int, float]]:
    """Return the points (step, value) of a metric."""
    history = MlflowClient(database).get_metric_history(run.info.run_id, metric)
    return [(point.step, point.value) for point in history]


def artifacts(database: str, run: Any) -> set[str]:
    """Return the paths of a run's artifacts."""
    return {entry.path for entry in MlflowClient(database).list_artifacts(run.info.run_id)}


def states(database: str) -> dict[str, tuple[str, str]]:
    """Return what became of every run: its status in MLflow, and our word for it."""
    return {
        name: (run.info.status, run.data.tags.get("augury.state", ""))
        for name, run in logged_runs(database).items()
    }


def parents(database: str) -> dict[str, str | None]:
    """Return the names of runs with those of what stands above them."""
    runs = logged_runs(database)
    names = {run.info.run_id: name for name, run in runs.items()}
    return {name: names.get(run.data.tags.get("mlflow.parentRunId")) for name, run in runs.items()}
