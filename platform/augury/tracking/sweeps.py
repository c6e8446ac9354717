"""Sync a sweep to MLflow: a parent run for the sweep, child runs for its configurations, and theirs
for seeds.

Means, intervals and the answer are those of the sweep's stored summary; seeds have their own
records. The levels share metric names: for a configuration, `test/<set>/<score>` is the mean over
its seeds, with `.../sd`, `.../low`, `.../high` and `.../seeds`; `best/<metric>` is the best
validation. The sweep has the metrics of its best configuration. Configurations and seeds have only
the swept keys as parameters. The run of a seed that `augury train` or an earlier sweep has logged
keeps its parent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from augury.core.config import flatten
from augury.core.store import Folder, Store
from augury.experiments import stored_runs
from augury.experiments.record import DESCRIPTION, RunRecord
from augury.experiments.recording import File
from augury.reporting.sweeps.report import SUMMARY, stored_summary
from augury.scoring.registry import record_name
from augury.sweeping import state
from augury.sweeping.state import Progress, Sweep, Trial
from augury.tracking.client import (
    FOLDER,
    NOTE,
    PARENT,
    MlflowExperiment,
    RunContent,
    Status,
    ended,
)
from augury.tracking.runs import (
    LEVEL,
    SYSTEM,
    artifact_files,
    model_writer,
    modified,
    read_record,
    run_content,
    run_status,
    source_tags,
    sync_run,
    unsent_points,
)

if TYPE_CHECKING:
    from mlflow.entities import Run

SWEEP, STATE = "augury.sweep", "augury.state"
RECOMMENDED = "augury.recommended"
CONFIGURATION, SEEDS = "augury.configuration", "augury.seeds"
"""Tags: a configuration's address, and the runs of its seeds."""
COSTS = ("train_seconds", "cpu_seconds", "device_hours", "parameters", "data_factor")
"""The fields of a cost that are metrics of configurations."""

Entry = Mapping[str, Any]
"""A configuration in the table of a summary."""


def sync_sweep(mlflow: MlflowExperiment, folder: Folder) -> None:
    """Sync a sweep and its trials to MLflow. Raises UserError if a file of a run is corrupt."""
    sweep = state.load(Store(folder.root), folder.name.partition("/")[2])
    runs = mlflow.search(sweep=sweep.name)[::-1]  # of duplicates, the oldest counts
    known = {run.data.tags.get(CONFIGURATION) or run.data.tags[FOLDER]: run for run in runs}
    _Sync(mlflow, sweep, stored_summary(sweep), _sweep_status(sweep), known).run()


def sweep_ended(logged: Run, folder: Folder) -> bool:
    """Return whether MLflow has the end of a sweep that its driver has written, without reading
    its trials."""
    progress = folder.read_record(state.STATE) if folder.exists(state.STATE) else {"time": 0.0}
    ends: tuple[Status, ...] = ("FINISHED", "FAILED", "KILLED")
    return any(ended(logged, status, progress["time"]) for status in ends)


def _sweep_status(sweep: Sweep) -> Status:
    """Return the status of a sweep; one that has not ended is running or was killed."""
    recorded = read_record(sweep.folder).get("status", "RUNNING")
    if sweep.ended:
        return "FINISHED" if sweep.count("finished") else "FAILED"
    if recorded == "FAILED":
        return "FAILED"
    return "RUNNING" if recorded == "RUNNING" and sweep.silent is None else "KILLED"


@dataclass
class _Sync:
    """One sync of a sweep."""

    mlflow: MlflowExperiment
    sweep: Sweep
    summary: Mapping[str, Any]
    status: Status
    known: dict[str, Run]
    """The runs in MLflow, by address of a configuration or by folder."""

    def run(self) -> None:
        """Sync everything, the sweep's own run last."""
        sweep = self.sweep
        tags = {LEVEL: "sweep", SWEEP: sweep.name, FOLDER: sweep.folder.name}
        content = RunContent(sweep.name, "RUNNING", started=sweep.started, tags=tags)
        parent = self.known.get(sweep.folder.name) or self.mlflow.create(content)
        for entry in self.summary["table"]:
            trials = sweep.by_address[entry["address"]].trials
            started = [trial for trial in trials if self._has_started(trial)]
            if started:
                self._sync_configuration(parent, entry, started)
        self._retire_former()
        self._sync_parent(parent, content)

    def _retire_former(self) -> None:
        """Take the configurations that a changed sweep no longer has out of its list."""
        for logged in self.known.values():
            address = logged.data.tags.get(CONFIGURATION, "")
            listed = logged.data.tags.get(LEVEL) == "configuration"
            if address and listed and address not in self.sweep.by_address:
                self.mlflow.set_tag(logged, LEVEL, "former configuration")

    def _has_started(self, trial: Trial) -> bool:
        if trial.progress != "waiting" and trial.folder.exists(DESCRIPTION):
            return True
        # Started by a command that was killed.
        return self.status != "RUNNING" and trial.folder.name in self.known

    def _sync_configuration(self, parent: Run, entry: Entry, trials: Sequence[Trial]) -> None:
        """Sync a configuration and its seeds."""
        sweep, folder = self.sweep, trials[0].folder
        inputs = RunRecord.read(folder).inputs
        status, text = self._state(entry["state"])
        mark = self._mark(entry["address"])
        title = f"{entry['name']} ({mark})" if mark else entry["name"]
        content = RunContent(
            title=title,
            status=status,
            started=modified(folder, DESCRIPTION),
            tags={
                LEVEL: "configuration",
                SWEEP: sweep.name,
                CONFIGURATION: entry["address"],
                PARENT: parent.info.run_id,
                STATE: text,
                "augury.question": sweep.question,
                "augury.metric": sweep.metric,
                "augury.scale": sweep.scale,
                "augury.reference": "yes" if entry["address"] == sweep.reference else "no",
                RECOMMENDED: mark,
                "mlflow.runName": title,  # another one may be recommended later
            },
            parameters=swept_values(entry["point"]),
            inputs=inputs,
            files=[File(folder, "experiment.yaml")],
        )
        logged = self.known.get(entry["address"]) or self.mlflow.create(content)
        links, ids, ends = [], {}, []
        for trial in trials:
            run_id = self._sync_seed(logged, entry, trial).info.run_id
            ids[trial.seed] = run_id
            outcome = ", ".join(filter(None, [trial.progress, trial.error]))
            links.append(f"- seed {trial.seed}: [{run_id}]({self.mlflow.link}/{run_id}) {outcome}")
            if trial.progress == "finished":
                ends.append(run_status(trial.folder)[1] or 0.0)
        content.finished = self._finished(logged, folder, status, max(ends, default=None))
        notes = stored_runs.corpus_notes(folder, inputs)
        content.tags[NOTE] = "\n\n".join([*notes, "\n".join(links)])
        content.tags[SEEDS] = json.dumps(dict(sorted(ids.items())))
        self._set_results(logged, content, entry)
        self.mlflow.update(logged, content)

    def _mark(self, address: str) -> str:
        """Return what the list of runs shows of a configuration: whether it is recommended."""
        if address != self.summary["recommended"]:
            return ""
        return "recommended" if self.sweep.ended else "recommended so far"

    def _sync_seed(self, parent: Run, entry: Entry, trial: Trial) -> Run:
        sweep, run = self.sweep, trial.folder
        logged = self.known.get(run.name) or self.mlflow.find(folder=run.name)
        ours = logged is None or logged.data.tags.get(SWEEP) == sweep.name
        if read_record(run) and not (ours and logged):
            return sync_run(self.mlflow, run, logged)  # started by `augury train`
        status, text = self._state(trial.progress, trial.error)
        end = run_status(run)[1] if trial.progress == "finished" else None
        finished = self._finished(logged, run, status, end)
        if logged and logged.data.tags.get(STATE) == text and ended(logged, status, finished):
            return logged
        content = run_content(run, logged, status, finished)
        content.parameters = swept_values(entry["point"])
        content.tags |= {LEVEL: "seed", STATE: text}
        content.inputs, content.files, content.model = (), (), None  # logged with the configuration
        if ours:
            content.tags |= {SWEEP: sweep.name, PARENT: parent.info.run_id}
        best = sweep.best(trial)
        if status != "RUNNING" and best is not None:
            content.final_metrics[f"best/{sweep.metric}"] = best
        logged = logged or self.mlflow.create(content)
        self.known[run.name] = logged
        self.mlflow.update(logged, content)
        return logged

    def _state(self, progress: Progress, error: str | None = None) -> tuple[Status, str]:
        """Return the state of a seed or configuration as MLflow's status and as text."""
        match progress:
            case "finished":
                return "FINISHED", "finished"
            case "failed":
                return "FAILED", f"failed: {error}" if error else "failed"
        if self.status == "RUNNING":
            return "RUNNING", "running"
        return "SCHEDULED", "interrupted"  # the same command continues it: not a failure

    def _finished(
        self, logged: Run | None, run: Folder, status: Status, finished: float | None
    ) -> float:
        """Return the end time; for stopped or interrupted runs, the time at which this was first
        synced."""
        if finished is not None:
            return finished
        if logged and logged.info.status == status and logged.info.end_time is not None:
            return logged.info.end_time / 1000
        return max(self.sweep.updated, modified(run, DESCRIPTION) or 0.0)

    def _set_results(self, logged: Run, content: RunContent, entry: Entry) -> None:
        """Set the metrics of a configuration, with their signatures.

        Logged metrics that no longer hold become NaN.
        """
        kept = [name for name in logged.data.metrics if name.startswith(("best/", "test/"))]
        metrics: dict[str, float | None] = dict.fromkeys(kept)
        validation = entry["validation"]
        if validation["mean"] is not None:
            best = {**validation, "value": validation["mean"], "seeds": validation["values"]}
            metrics |= _spread(f"best/{self.sweep.metric}", best)
        for test, row in entry["tests"].items():
            for metric, score in row["scores"].items():
                metrics |= _spread(f"test/{test}/{record_name(metric)}", score)
                content.tags[f"signature/{record_name(metric)}"] = score["signature"]
            if row["cost"]:
                metrics |= {f"cost/{name}": row["cost"][name] for name in COSTS}
                content.tags["augury.device"] = row["cost"]["device"]
        content.final_metrics |= metrics

    def _sync_parent(self, logged: Run, content: RunContent) -> None:
        """Sync the sweep's own run."""
        sweep, summary = self.sweep, self.summary
        best = next(
            (entry for entry in summary["table"] if entry["address"] == summary["best"]), None
        )
        content.tags |= self._sweep_tags(best) | source_tags(read_record(sweep.folder))
        content.final_metrics = {f"trials/{name}": summary[name] for name in state.ENDS}
        content.final_metrics["cost/training_hours"] = summary["cost"]["train_seconds"] / 3600
        if best is not None:
            self._set_results(logged, content, best)
        content.points = unsent_points(sweep.folder.sub(SYSTEM), logged, SYSTEM)
        content.status, content.finished = self.status, sweep.updated
        if content.status != "RUNNING" and not ended(logged, content.status, sweep.updated):
            names = [state.DEFINITION, state.PAGE, SUMMARY]
            content.files = [
                File(sweep.folder, name) for name in names if sweep.folder.exists(name)
            ]
            for trial in sweep.by_address[best["address"]].trials if best else ():
                if trial.progress == "finished" and trial.folder.name in self.known:
                    files, model = artifact_files(trial.folder), model_writer(trial.folder)
                    self.mlflow.log_artifacts(self.known[trial.folder.name], files, model)
        self.mlflow.update(logged, content)

    def _sweep_tags(self, best: Entry | None) -> dict[str, str]:
        sweep, summary = self.sweep, self.summary
        tags = {
            f"augury.{name}": str(summary[name])
            for name in ("question", "answer", "metric", "mode", "scale", "scheduler", "reference")
        }
        counts = [(sweep.count(progress), progress) for progress in get_args(Progress)]
        tags |= {
            "augury.keys": ", ".join(sweep.keys),
            "augury.seeds": ", ".join(map(str, sweep.seeds)),
            "augury.systems": "; ".join(entry["name"] for entry in summary["table"]),
            "augury.trials": ", ".join(f"{count} {name}" for count, name in counts if count),
        }
        if best is not None:
            tags |= {"augury.best": best["name"], "augury.best_configuration": best["address"]}
        scores = dict.fromkeys(
            f"metrics.`test/{test}/{record_name(metric)}`"
            for entry in summary["table"]
            for test, row in entry["tests"].items()
            for metric in row["scores"]
        )
        validation = f"best/{sweep.metric}"
        table, links = self.mlflow.view(
            f"sweep-{sweep.name}",
            f"tags.{SWEEP} = '{sweep.name}' and tags.{LEVEL} = 'configuration'",
            [
                f"tags.`{STATE}`",
                f"metrics.`{validation}`",
                f"metrics.`{validation}/seeds`",
                *scores,
                f"metrics.`cost/{COSTS[0]}`",
            ],
            validation,
            lower_first=sweep.mode == "min",
        )
        if not sweep.folder.exists(state.VIEW) or sweep.folder.read(state.VIEW).decode() != table:
            sweep.folder.write(state.VIEW, table)
        paragraphs = [
            sweep.question,
            f"**{summary['answer']}**",
            *summary["notes"],
            f"Its configurations: {links}",
            f"Files: {sweep.folder.name} in the storage",
        ]
        return tags | {NOTE: "\n\n".join(paragraphs)}


def swept_values(point: Mapping[str, Any]) -> dict[str, Any]:
    """Return the swept values of a point by dotted key, as in the parameters of the seeds' runs."""
    return {key: None for key, value in point.items() if value is None} | flatten(point)


def _spread(name: str, score: Mapping[str, Any]) -> dict[str, float]:
    """Return a mean over seeds as metrics, with what is known of its spread."""
    metrics = {name: score["value"], f"{name}/seeds": len(score["seeds"])}
    ends = {key: score[key] for key in ("sd", "low", "high") if score.get(key) is not None}
    return metrics | {f"{name}/{key}": value for key, value in ends.items()}
