"""The record of one run in MLflow, from what lies in its folder."""

from __future__ import annotations

import bisect
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from augury.core.config import flatten
from augury.core.store import MARKER, Folder, Store
from augury.experiments import runs
from augury.experiments.recording import File
from augury.reporting import exporting, run_files
from augury.scoring.metrics import record_name
from augury.tracking.client import FOLDER, NOTE, PARENT, Content, MlflowExperiment, Point, Record, Status
from augury.training import history
from augury.training.launch import FAILURE

RECORD = "record.json"
"""The notes of a command on a run or a sweep that it records: `status` and since when, `files`, who began it."""
SYSTEM = "system"
"""The folder in a run's (or a sweep's) of the history of the machine's load."""
ANALYSED = "augury.analysed"
"""The tag with the time at which the newest analysis was made of those that MLflow has."""
EXPERIMENTS = "experiments"
"""The kind of folder in which `augury train` notes how it ended, a folder for every name of an experiment."""


def noted(folder: Folder) -> dict[str, Any]:
    """Return what commands have noted of a folder; empty where it was never recorded."""
    return dict(folder.read_json(RECORD)) if folder.exists(RECORD) else {}


def sync_run(mlflow: MlflowExperiment, run: Folder, record: Record | None = None) -> Record:
    """Bring MLflow up to date with a run, under the parent that it has there already or else its experiment's.

    `record` is the run in MLflow, where a search has found it already. UserError where a file of the run is damaged.
    """
    record = record or mlflow.find(folder=run.name)
    status, finished = ending(run)
    if record is None or not record.ended(status, finished):
        content = run_content(run, record, status, finished)
        if record is None or PARENT not in record.tags:
            parent = sync_experiment(mlflow, Folder(run.root, f"{EXPERIMENTS}/{content.tags['augury.experiment']}"))
            content.tags[PARENT] = parent.run_id
        record = record or mlflow.create(content)
        mlflow.update(record, content)
    if unsent_analyses(run, record):
        mlflow.keep(record, _analyses(run))
        mlflow.tag(record, ANALYSED, _analysed(run))
    return record


def unsent_analyses(run: Folder, record: Record) -> bool:
    """Return whether MLflow lacks analyses of a run, or has older ones: they are made at any time after its end."""
    return record.tags.get(ANALYSED, "") != _analysed(run)


def sync_experiment(mlflow: MlflowExperiment, folder: Folder) -> Record:
    """Bring MLflow up to date with the parent of an experiment's runs; one that nobody noted ends when it is made."""
    name, note = folder.name.partition("/")[2], noted(folder)
    tags = {FOLDER: folder.name, "augury.level": "experiment", "augury.experiment": name} | source_tags(note)
    comparing = f"tags.augury.experiment = '{name}' and tags.augury.seed != ''"
    charts = mlflow.charts(comparing, "valid/best")
    tags[NOTE] = f"The runs of one experiment file. [Compare them]({charts}), or filter runs by `{comparing}`."
    content = Content(name, note.get("status", "FINISHED"), started=note.get("started"), tags=tags)
    record = mlflow.find(folder=folder.name)
    content.finished = note.get("since") or (record and record.finished and record.finished / 1000) or time.time()
    record = record or mlflow.create(content)
    mlflow.update(record, content)
    return record


def ending(run: Folder) -> tuple[Status, float | None]:
    """Return whether a run is at work or how it ended, and when; one that nobody noted is at work until it is whole."""
    note, completed = noted(run), _modified(run, MARKER)
    status: Status = note.get("status", "FAILED" if run.exists(FAILURE) else "RUNNING")
    if status == "FINISHED":
        completed = note["since"]
    if completed is not None:
        return "FINISHED", max(completed, _modified(run, runs.SCORES) or 0.0)  # it may be scored anew after its end
    return status, None if status == "RUNNING" else note.get("since") or _modified(run, FAILURE)


def run_content(run: Folder, record: Record | None, status: Status, finished: float | None) -> Content:
    """Return what a run is to have in MLflow; of its curves, what lies behind the last steps of `record`."""
    facts, note = run.read_json(runs.DESCRIPTION), noted(run)
    content = Content(
        title=f"{facts['name']} seed {facts['seed']}",
        status=status,
        finished=finished,
        started=note.get("started") or _modified(run, runs.DESCRIPTION),
        tags=_tags(run, facts) | source_tags(note),
        parameters=_parameters(facts),
        points=[*unsent_points(run, record), *unsent_points(run.sub(SYSTEM), record, SYSTEM)],
        inputs=facts["inputs"],
    )
    if status != "RUNNING":
        content.files, content.model = files_of(run), model_of(run)
    if status != "RUNNING" and run.exists(runs.SCORES):
        scores = run.read_json(runs.SCORES)
        cost = flatten(scores["cost"])
        finals = {f"cost/{name}": value for name, value in cost.items() if isinstance(value, int | float)}
        for test, results in scores["tests"].items():
            for score in results:
                metric = record_name(score["name"])
                name = f"test/{test}/{metric}"
                finals |= {name: score["value"], f"{name}/low": score["low"], f"{name}/high": score["high"]}
                content.tags[f"signature/{metric}"] = score["signature"]
        content.finals = finals
        content.tags["augury.device"] = scores["cost"]["device"]
    return content


def _parameters(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters; MLflow sorts them, and those in which systems differ stand first too, with a `_`."""
    parameters: dict[str, Any] = facts["parameters"]
    return parameters | {f"_{key}": parameters[key] for key in facts.get("differing", ()) if key in parameters}


def unsent_points(folder: Folder, record: Record | None, section: str = "") -> list[Point]:
    """Return the points of a history that lie behind the last steps that MLflow has of their metrics.

    Files are sent in their order, so that those before the one with the last step need not be read again. `section`:
    of the metrics that the history holds; without it all others.
    """
    steps = record.steps if record else {}
    last = max((step for metric, step in steps.items() if metric.startswith(SYSTEM) == bool(section)), default=0)
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


def files_of(run: Folder) -> list[File]:
    """Return what is worth keeping of a run: its experiment, scores, outputs, and what the command has named."""
    own = ["experiment.yaml", runs.DESCRIPTION, runs.SCORES]
    outputs = run.sub("hypotheses")
    return [
        *(File(run, name) for name in own if run.exists(name)),
        *(File(outputs, name, "hypotheses") for name in outputs.names()),
        *(
            File(Folder(entry["root"], entry["folder"]), entry["name"], entry["directory"])
            for entry in noted(run).get("files", ())
        ),
    ]


def model_of(run: Folder) -> Callable[[Path], None] | None:
    """Return what writes a run's model into a new directory as `augury export --to hf` does, if that is asked for."""
    wanted = run.read_json(runs.DESCRIPTION)["parameters"].get("tracking.log_model")
    return partial(exporting.export, run, Store(run.root), "hf") if wanted and run.exists(runs.SCORES) else None


def source_tags(note: dict[str, Any]) -> dict[str, str]:
    """Return who began a run, and by what command, as MLflow shows it."""
    if "source" not in note:
        return {}
    return {"mlflow.source.name": note["source"], "mlflow.source.type": "LOCAL", "mlflow.user": note["user"]}


def _tags(run: Folder, facts: dict[str, Any]) -> dict[str, str]:
    """Return how a run is found and what made it."""
    tags = {FOLDER: run.name}
    tags |= {f"augury.{key}": str(facts[key]) for key in ("name", "experiment", "address", "seed", "task")}
    tags |= {f"version.{package}": version for package, version in facts["versions"].items()}
    if facts["commit"]:
        tags["mlflow.source.git.commit"] = facts["commit"]
    if notes := runs.notes(run):
        tags[NOTE] = "\n\n".join(notes)  # MLflow shows it at the head of the run's page
    return tags


def _analyses(run: Folder) -> list[File]:
    """Return the files of the analyses of a run, which keep their folders."""
    return [File(folder, name, place) for place, folder in run_files.analyses(run).items() for name in folder.names()]


def _analysed(run: Folder) -> str:
    """Return when the newest analysis of a run was made, in milliseconds since 1970; empty where there is none."""
    times = [_modified(file.folder, file.name) or 0.0 for file in _analyses(run)]
    return f"{1000 * max(times):.0f}" if times else ""


def _modified(folder: Folder, name: str) -> float | None:
    """Return when a file was written last, in seconds since 1970; None where it is not there."""
    modified = folder.filesystem.get_file_info(folder.path(name)).mtime
    return None if modified is None else float(modified.timestamp())
