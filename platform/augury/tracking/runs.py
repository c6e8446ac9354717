"""Sync one run folder to MLflow."""

from __future__ import annotations

import bisect
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from augury.core.config import flatten
from augury.core.store import MARKER, Folder, Store
from augury.experiments import stored_runs
from augury.experiments.record import DESCRIPTION, SCORES, RunRecord
from augury.experiments.recording import File
from augury.reporting import exporting, run_files
from augury.scoring.registry import record_name
from augury.tracking.client import (
    FOLDER,
    NOTE,
    PARENT,
    LoggedRun,
    MlflowExperiment,
    Point,
    RunContent,
    Status,
)
from augury.training import history
from augury.training.launch import FAILURE

RECORD = "record.json"
"""A command's record of a tracked run or sweep: `status` and since when, `files`, who started
it."""
SYSTEM = "system"
"""Subfolder of a run or sweep with the history of system metrics."""
ANALYSED = "augury.analysed"
"""Tag with the time of the newest analysis that was sent."""
EXPERIMENTS = "experiments"
"""Kind of the folders in which `augury train` records its status, one per experiment name."""


def read_record(folder: Folder) -> dict[str, Any]:
    """Return the tracking record of a folder; empty if it was never tracked."""
    return dict(folder.read_json(RECORD)) if folder.exists(RECORD) else {}


def sync_run(mlflow: MlflowExperiment, run: Folder, logged: LoggedRun | None = None) -> LoggedRun:
    """Sync a run to MLflow, under its existing parent run or else that of its experiment.

    `logged` is the run in MLflow if a search has already found it. Raises UserError if a file of
    the run is corrupt.
    """
    logged = logged or mlflow.find(folder=run.name)
    status, finished = run_status(run)
    if logged is None or not logged.ended(status, finished):
        content = run_content(run, logged, status, finished)
        if logged is None or PARENT not in logged.tags:
            parent = sync_experiment(
                mlflow, Folder(run.root, f"{EXPERIMENTS}/{content.tags['augury.experiment']}")
            )
            content.tags[PARENT] = parent.run_id
        logged = logged or mlflow.create(content)
        mlflow.update(logged, content)
    if has_unsent_analyses(run, logged):
        mlflow.log_artifacts(logged, _analysis_files(run))
        mlflow.set_tag(logged, ANALYSED, _newest_analysis(run))
    return logged


def sync_experiment(mlflow: MlflowExperiment, folder: Folder) -> LoggedRun:
    """Sync the parent run of an experiment's runs; without a record it ends when it is created."""
    name, record = folder.name.partition("/")[2], read_record(folder)
    tags = {
        FOLDER: folder.name,
        "augury.level": "experiment",
        "augury.experiment": name,
    } | source_tags(record)
    filter_string = f"tags.augury.experiment = '{name}' and tags.augury.seed != ''"
    charts = mlflow.charts(filter_string, "valid/best")
    tags[NOTE] = (
        f"The runs of one experiment file. [Compare them]({charts}), or filter runs by "
        f"`{filter_string}`."
    )
    content = RunContent(
        name, record.get("status", "FINISHED"), started=record.get("started"), tags=tags
    )
    logged = mlflow.find(folder=folder.name)
    content.finished = (
        record.get("since")
        or (logged and logged.finished and logged.finished / 1000)
        or time.time()
    )
    logged = logged or mlflow.create(content)
    mlflow.update(logged, content)
    return logged


def run_status(run: Folder) -> tuple[Status, float | None]:
    """Return the status of a run and the time at which it ended.

    Without a record it runs until it is complete.
    """
    record, completed = read_record(run), _modified(run, MARKER)
    status: Status = record.get("status", "FAILED" if run.exists(FAILURE) else "RUNNING")
    if status == "FINISHED":
        completed = record["since"]
    if completed is not None:
        return "FINISHED", max(
            completed, _modified(run, SCORES) or 0.0
        )  # a finished run may be scored again
    return status, None if status == "RUNNING" else record.get("since") or _modified(run, FAILURE)


def run_content(
    run: Folder, logged: LoggedRun | None, status: Status, finished: float | None
) -> RunContent:
    """Return the target state of a run in MLflow, with the points of curves that `logged` lacks."""
    record, status_record = RunRecord.read(run), read_record(run)
    content = RunContent(
        title=f"{record.name} seed {record.seed}",
        status=status,
        finished=finished,
        started=status_record.get("started") or _modified(run, DESCRIPTION),
        tags=_tags(run, record) | source_tags(status_record),
        parameters=_parameters(record),
        points=[*unsent_points(run, logged), *unsent_points(run.sub(SYSTEM), logged, SYSTEM)],
        inputs=record.inputs,
    )
    if status != "RUNNING":
        content.files, content.model = artifact_files(run), model_writer(run)
        content.final_metrics = final_metrics(record)
        for scores in record.tests.values():
            for score in scores:
                content.tags[f"signature/{record_name(score.name)}"] = score.signature
        if record.cost:
            content.tags["augury.device"] = record.cost.device
    return content


def final_metrics(record: RunRecord) -> dict[str, float | None]:
    """Return the cost and the scores of a run; empty before it is scored."""
    metrics: dict[str, float | None] = {}
    if record.cost and record.training:
        cost, training = asdict(record.cost), record.training
        cost |= {
            "epochs": training.epochs,
            "epochs_by_view": record.cost.epochs,
            "weights": {"scores": training.weights.scores},
        }
        for name, value in flatten(cost).items():
            if isinstance(value, int | float):
                metrics[f"cost/{name}"] = value
    for test, scores in record.tests.items():
        for score in scores:
            name = f"test/{test}/{record_name(score.name)}"
            metrics |= {name: score.value, f"{name}/low": score.low, f"{name}/high": score.high}
    return metrics


def unsent_points(folder: Folder, logged: LoggedRun | None, section: str = "") -> list[Point]:
    """Return the points of a history after the last logged step of their metric.

    Files are sent in order, so those before the last logged step are not read again. `section` is
    the prefix of the metrics in this history; empty for all metrics but the system's.
    """
    steps = logged.steps if logged else {}
    last = max(
        (step for metric, step in steps.items() if metric.startswith(SYSTEM) == bool(section)),
        default=0,
    )
    names = sorted(history.files(folder), key=lambda name: name.partition(".")[0])
    first = bisect.bisect_left(names, f"{last:08d}")
    points = {
        (metric, line["update"]): Point(metric, value, line["time"], line["update"])
        for name in names[max(first - 1, 0) :]
        for line in history.records(folder, name)
        for metric, value in line["metrics"].items()
        if line["update"] > steps.get(metric, -1)
    }
    return list(points.values())


def artifact_files(run: Folder) -> list[File]:
    """Return the files to log with a run: its experiment, scores, outputs and the files of its
    record."""
    outputs = run.sub("hypotheses")
    return [
        *(File(run, name) for name in ("experiment.yaml", DESCRIPTION, SCORES) if run.exists(name)),
        *(File(outputs, name, "hypotheses") for name in outputs.names()),
        *(
            File(Folder(entry["root"], entry["folder"]), entry["name"], entry["directory"])
            for entry in read_record(run).get("files", ())
        ),
    ]


def model_writer(run: Folder) -> Callable[[Path], object] | None:
    """Return a function that exports a run's model as `augury export --to hf` does; None unless
    logging it is on."""
    record = RunRecord.read(run)
    enabled = record.parameters.get("tracking.log_model") and record.evaluated
    return partial(exporting.export, run, Store(run.root), "hf") if enabled else None


def source_tags(record: dict[str, Any]) -> dict[str, str]:
    """Return MLflow's tags for the user and command that started a run."""
    if "source" not in record:
        return {}
    return {
        "mlflow.source.name": record["source"],
        "mlflow.source.type": "LOCAL",
        "mlflow.user": record["user"],
    }


def has_unsent_analyses(run: Folder, logged: LoggedRun) -> bool:
    """Return whether a run has newer analyses than MLflow.

    They can be added at any time after its end.
    """
    return logged.tags.get(ANALYSED, "") != _newest_analysis(run)


def _parameters(record: RunRecord) -> dict[str, Any]:
    """Return the parameters, with `_` copies of those that differ between systems, which MLflow
    sorts first."""
    parameters = dict(record.parameters)
    return parameters | {
        f"_{key}": parameters[key] for key in record.differing if key in parameters
    }


def _tags(run: Folder, record: RunRecord) -> dict[str, str]:
    """Return the tags that identify a run and its code."""
    tags = {FOLDER: run.name}
    tags |= {
        f"augury.{key}": str(getattr(record, key))
        for key in ("name", "experiment", "address", "seed", "task")
    }
    tags |= {f"version.{package}": version for package, version in record.versions.items()}
    if record.commit:
        tags["mlflow.source.git.commit"] = record.commit
    if notes := stored_runs.corpus_notes(run, record.inputs):
        tags[NOTE] = "\n\n".join(notes)  # shown at the top of the run's page
    return tags


def _analysis_files(run: Folder) -> list[File]:
    """Return the files of a run's analyses, in the same directories."""
    analyses = run_files.analyses(run)
    return [
        File(folder, name, directory)
        for directory, folder in analyses.items()
        for name in folder.names()
    ]


def _newest_analysis(run: Folder) -> str:
    """Return the Unix time of the newest analysis of a run in milliseconds.

    Empty if there is none.
    """
    times = [_modified(file.folder, file.name) or 0.0 for file in _analysis_files(run)]
    return f"{1000 * max(times):.0f}" if times else ""


def _modified(folder: Folder, name: str) -> float | None:
    """Return the Unix time of a file's last modification; None if it does not exist."""
    modified = folder.filesystem.get_file_info(folder.path(name)).mtime
    return None if modified is None else float(modified.timestamp())
