"""Sync run folders, and the parent run of an experiment, to MLflow."""

from __future__ import annotations

import bisect
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from augury.core.config import flatten
from augury.core.integrity import Damaged
from augury.core.messages import say_once
from augury.core.store import MARKER, Folder, Store
from augury.experiments import stored_runs
from augury.experiments.record import DESCRIPTION, SCORES, RunRecord
from augury.experiments.recording import File
from augury.reporting import exporting, find, run_files
from augury.scoring.registry import lower_is_better, record_name
from augury.tracking.client import (
    FOLDER,
    NOTE,
    PARENT,
    MlflowExperiment,
    Point,
    RunContent,
    Status,
    ended,
)
from augury.training import history
from augury.training.trained import FAILURE

if TYPE_CHECKING:
    from mlflow.entities import Run

RECORD = "record.json"
"""A command's record of a tracked run or sweep: `status` and since when, `files`, who started
it."""
SYSTEM = "system"
"""Subfolder of a run or sweep with the history of system metrics."""
IDENTITY = ("name", "experiment", "address", "seed", "task")
"""The fields of a record that are tags."""
LEVEL, ANALYSED = "augury.level", "augury.analysed"
"""Tags: what a parent run stands for, and the time of the newest analysis that was sent."""
EXPERIMENTS = "experiments"
"""Kind of the folders in which `augury train` records its status, one per experiment name."""
MATTER = (
    "corpus.known",
    "corpus.train.first",
    "model.name",
    "model.architecture",
    "vocabulary.size",
    "regime.name",
    "training.learning_rate",
    "training.max_tokens",
    "training.max_epochs",
    "training.max_updates",
    "training.precision",
)
"""Parameters of every run; others are logged where the systems differ in them."""


def read_record(folder: Folder) -> dict[str, Any]:
    """Return the tracking record of a folder; empty if it was never tracked or, with a warning,
    where it is damaged."""
    try:
        return folder.read_record(RECORD)
    except FileNotFoundError:
        return {}
    except Damaged as error:
        say_once(f"warning: {error}")
        return {}


def sync_run(mlflow: MlflowExperiment, run: Folder, logged: Run | None = None) -> Run:
    """Sync a run to MLflow, under its existing parent run or else that of its experiment.

    `logged` is the run in MLflow if a search has already found it. Raises UserError if a file of
    the run is corrupt.
    """
    logged = logged or mlflow.find(folder=run.name)
    status, finished = run_status(run)
    if logged is None or not ended(logged, status, finished):
        content = run_content(run, logged, status, finished)
        if logged is None or PARENT not in logged.data.tags:
            name = content.tags["augury.experiment"]
            folder = Folder(run.root, f"{EXPERIMENTS}/{name}")
            differing = RunRecord.read(run).differing
            shared = {
                key: value for key, value in content.parameters.items() if key not in differing
            }
            content.tags[PARENT] = sync_experiment(mlflow, folder, shared).info.run_id
        logged = logged or mlflow.create(content)
        mlflow.update(logged, content)
    if has_unsent_analyses(run, logged):
        files = _analysis_files(run)
        mlflow.log_artifacts(logged, files)
        mlflow.set_tag(logged, ANALYSED, _newest(files))
    return logged


def sync_experiment(
    mlflow: MlflowExperiment, folder: Folder, parameters: Mapping[str, Any] | None = None
) -> Run:
    """Sync the parent run of an experiment's runs, with the systems, answer and scores of its
    report.

    Without a record it ends when it is created. `parameters` are those that its runs share.
    """
    name, record, report = folder.name.partition("/")[2], read_record(folder), _report(folder)
    logged = mlflow.find(folder=folder.name)
    status, finished = experiment_status(folder)
    answer, systems = report.get("answer", ""), report.get("systems", {})
    metrics: dict[str, float | None] = {}
    scores = {}
    for system, tests in report.get("scores", {}).items():
        for test, values in tests.items():
            for metric, value in values.items():
                score = f"test/{test}/{record_name(metric)}"
                metrics[f"{score}/{system}"] = value
                scores[score] = lower_is_better(metric)
    sorted_by, lower_first = next(iter(scores.items()), ("valid/best", False))
    _, links = mlflow.view(
        f"experiment-{name}",
        f"tags.augury.experiment = '{name}' and tags.augury.seed != ''",
        ["attributes.`Created`", *(f"metrics.`{score}`" for score in ("valid/best", *scores))],
        sorted_by,
        lower_first=lower_first,
    )
    links = f"The runs of one experiment file: {links}"
    if finished is None and logged is not None and logged.info.end_time:
        finished = logged.info.end_time / 1000
    content = RunContent(
        title=name,
        status=status,
        finished=finished or time.time(),
        started=record.get("started"),
        tags={
            FOLDER: folder.name,
            LEVEL: "experiment",
            "augury.experiment": name,
            "augury.systems": ", ".join(systems),
            "augury.answer": answer,
            NOTE: f"**{answer}**\n\n{links}" if answer else links,
            **source_tags(record),
        },
        parameters=parameters or {},
        final_metrics=metrics,
    )
    logged = logged or mlflow.create(content)
    mlflow.update(logged, content)
    return logged


def run_status(run: Folder) -> tuple[Status, float | None]:
    """Return the status of a run and the time at which it ended.

    Without a record it runs until it is complete. A finished run ends again when it is scored.
    """
    record = read_record(run)
    times = {name: info.modified for name, info in run.contents(below=False).items()}
    completed = times.get(MARKER)
    status: Status = record.get("status", "FAILED" if FAILURE in times else "RUNNING")
    if status == "FINISHED":
        completed = record["since"]
    if completed is not None:
        return "FINISHED", max(completed, times.get(SCORES, 0.0))
    return status, None if status == "RUNNING" else record.get("since") or times.get(FAILURE)


def experiment_status(folder: Folder) -> tuple[Status, float | None]:
    """Return the status of an experiment and the time at which it ended or was last reported."""
    record, report = read_record(folder), _report_folder(folder)
    times = [record.get("since"), modified(report, find.SUMMARY)]
    return record.get("status", "FINISHED"), max(filter(None, times), default=None)


def run_content(
    run: Folder, logged: Run | None, status: Status, finished: float | None
) -> RunContent:
    """Return the target state of a run in MLflow, with the points of curves that `logged` lacks."""
    record, status_record = RunRecord.read(run), read_record(run)
    tags = {f"augury.{name}": str(getattr(record, name)) for name in IDENTITY}
    tags |= {f"version.{package}": version for package, version in record.versions.items()}
    if record.commit:
        tags["mlflow.source.git.commit"] = record.commit
    if notes := stored_runs.corpus_notes(run, record.inputs):
        tags[NOTE] = "\n\n".join(notes)  # shown at the top of the run's page
    content = RunContent(
        title=f"{record.name} seed {record.seed}",
        status=status,
        finished=finished,
        started=status_record.get("started") or modified(run, DESCRIPTION),
        tags={FOLDER: run.name, **tags, **source_tags(status_record)},
        parameters=_parameters(record),
        points=[*unsent_points(run, logged), *unsent_points(run.sub(SYSTEM), logged, SYSTEM)],
        inputs=record.inputs,
    )
    if status != "RUNNING":
        content.files, content.model = artifact_files(run), model_writer(run)
        content.final_metrics = _final_metrics(record)
        for scores in record.tests.values():
            for score in scores:
                content.tags[f"signature/{record_name(score.name)}"] = score.signature
        if record.cost:
            content.tags["augury.device"] = record.cost.device
    return content


def _parameters(record: RunRecord) -> dict[str, Any]:
    """Return the parameters in which systems differ and those that matter; the file of the
    experiment has all."""
    names = dict.fromkeys([*record.differing, *MATTER])
    return {name: record.parameters[name] for name in names if name in record.parameters}


def _final_metrics(record: RunRecord) -> dict[str, float | None]:
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


def unsent_points(folder: Folder, logged: Run | None, section: str = "") -> list[Point]:
    """Return the points of a history after the last logged step of their metric.

    Files are sent in order, so those before the last logged step are not read again. `section` is
    the prefix of the metrics in this history; empty for all metrics but the system's.
    """
    steps = {metric.key: metric.step for metric in logged.data._metric_objs} if logged else {}
    last = max(
        (step for metric, step in steps.items() if metric.startswith(SYSTEM) == bool(section)),
        default=0,
    )
    names = sorted(history.files(folder), key=lambda name: name.partition(".")[0])
    first = bisect.bisect_left(names, f"{last:08d}")
    points: dict[tuple[str, int], Point] = {}
    for name in names[max(first - 1, 0) :]:
        for line in history.records(folder, name):
            step = line["update"]
            for metric, value in line["metrics"].items():
                if step > steps.get(metric, -1):
                    points[metric, step] = Point(metric, value, line["time"], step)
    return list(points.values())


def artifact_files(run: Folder) -> list[File]:
    """Return the files to log with a run: its experiment, scores, outputs and the files of its
    record."""
    outputs = run.sub("hypotheses")
    return [
        *(File(run, name) for name in ("experiment.yaml", DESCRIPTION, SCORES) if run.exists(name)),
        *(File(outputs, name, "hypotheses") for name in outputs.names()),
        *(
            File(Folder(run.root, entry["folder"]), entry["name"], entry["directory"])
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


def has_unsent_analyses(run: Folder, logged: Run) -> bool:
    """Return whether a run has newer analyses than MLflow.

    They can be added at any time after its end.
    """
    return logged.data.tags.get(ANALYSED, "") != _newest(_analysis_files(run))


def _analysis_files(run: Folder) -> list[File]:
    """Return the files of a run's analyses, in the same directories."""
    analyses = run_files.analyses(run)
    return [
        File(folder, name, directory)
        for directory, folder in analyses.items()
        for name in folder.names()
    ]


def _newest(files: Sequence[File]) -> str:
    """Return the Unix time of the newest of files in milliseconds; empty if there is none."""
    times = [modified(file.folder, file.name) or 0.0 for file in files]
    return f"{1000 * max(times):.0f}" if times else ""


def _report_folder(folder: Folder) -> Folder:
    """Return the report of an experiment."""
    return Store(folder.root).folder(find.REPORTS, folder.name.partition("/")[2])


def _report(folder: Folder) -> dict[str, Any]:
    """Return the summary of an experiment's report; empty before there is one."""
    return find.report_summary(_report_folder(folder))


def modified(folder: Folder, name: str) -> float | None:
    """Return the Unix time of a file's last modification; None if it does not exist."""
    info = folder.info(name)
    return info.modified if info else None
