"""Sync a sweep to MLflow: a parent run for the sweep, child runs for its configurations, and theirs
for seeds.

The three levels share metric names: for a configuration, `test/<set>/<score>` is the mean over its
seeds, with `.../sd`, `.../low`, `.../high` and `.../seeds`; `best/<metric>` is the best validation.
Configurations and seeds have only the swept keys as parameters, so that MLflow's comparisons show
these first. The run of a seed that `augury train` or an earlier sweep has logged keeps its parent.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from augury.core import config
from augury.core.config import flatten
from augury.core.store import Folder, Store
from augury.experiments import stored_runs
from augury.experiments.record import DESCRIPTION, SCORES, RunRecord
from augury.experiments.recording import File
from augury.reporting import results
from augury.reporting.sweeps import summary
from augury.reporting.sweeps.answer import answer
from augury.reporting.sweeps.summary import ConfigurationResult, leader
from augury.scoring.registry import record_name
from augury.sweeping import state
from augury.sweeping.state import Configuration, Progress, Sweep, Trial
from augury.tracking.client import (
    FOLDER,
    NOTE,
    PARENT,
    LoggedRun,
    MlflowExperiment,
    RunContent,
    Status,
)
from augury.tracking.runs import (
    SYSTEM,
    artifact_files,
    model_writer,
    read_record,
    run_content,
    run_status,
    source_tags,
    sync_run,
    unsent_points,
)

LEVEL, SWEEP, STATE = "augury.level", "augury.sweep", "augury.state"
CONFIGURATION, SEEDS, SCORED = "augury.configuration", "augury.seeds", "augury.scored"
"""Tags: a configuration's address, the runs of its seeds, and the scores used for its means or a
sweep's answer."""


def sync_sweep(mlflow: MlflowExperiment, folder: Folder) -> None:
    """Sync a sweep and its trials to MLflow. Raises UserError if a file of a run is corrupt."""
    _Sync(mlflow, state.load(Store(folder.root), folder.name.partition("/")[2])).run()


def sweep_ended(logged: LoggedRun, folder: Folder) -> bool:
    """Return whether MLflow has the end of a sweep that its driver has written, without reading
    its trials."""
    progress = folder.read_json(state.STATE) if folder.exists(state.STATE) else {"time": 0.0}
    return any(
        logged.ended(status, progress["time"]) for status in ("FINISHED", "FAILED", "KILLED")
    )


@dataclass
class _Sync:
    """One sync of a sweep."""

    mlflow: MlflowExperiment
    sweep: Sweep
    notes: list[str] = field(default_factory=list)
    """Notes on the texts of all configurations."""

    def run(self) -> None:
        """Sync everything, the sweep's own run last."""
        sweep = self.sweep
        self.status = self._sweep_status()
        logged = self.mlflow.search(sweep=sweep.name)[::-1]  # of duplicates, the oldest counts
        configurations = {
            run.tags[CONFIGURATION]: run for run in logged if CONFIGURATION in run.tags
        }
        seeds = {run.tags[FOLDER]: run for run in logged if run.tags.get(LEVEL) == "seed"}
        content = RunContent(
            sweep.name, "RUNNING", started=sweep.started, tags={LEVEL: "sweep", SWEEP: sweep.name}
        )
        content.tags[FOLDER] = sweep.folder.name
        parent = self.mlflow.find(folder=sweep.folder.name) or self.mlflow.create(content)
        ranking = summary.ranking(sweep)
        for result in ranking:
            trials = [
                trial
                for trial in result.configuration.trials
                if (trial.progress != "waiting" and trial.folder.exists(DESCRIPTION))
                or (
                    self.status != "RUNNING" and trial.folder.name in seeds
                )  # started by a killed command
            ]
            if trials:
                self._sync_configuration(
                    parent, configurations.get(result.address), result, trials, seeds
                )
        self._sync_parent(parent, content, ranking, seeds)

    def _sweep_status(self) -> Status:
        """Return the status of the sweep; one that has not ended is running or was killed."""
        sweep, recorded = self.sweep, read_record(self.sweep.folder).get("status", "RUNNING")
        if sweep.ended:
            return "FINISHED" if sweep.count("finished") else "FAILED"
        if recorded == "FAILED":
            return "FAILED"
        return "RUNNING" if recorded == "RUNNING" and sweep.silent is None else "KILLED"

    def _sync_configuration(
        self,
        parent: LoggedRun,
        logged: LoggedRun | None,
        result: ConfigurationResult,
        trials: Sequence[Trial],
        seeds: dict[str, LoggedRun],
    ) -> None:
        """Sync a configuration and its seeds; adds the runs of its seeds to `seeds` by folder."""
        first, inputs = trials[0].folder, RunRecord.read(trials[0].folder).inputs
        content = RunContent(
            title=result.configuration.name,
            status=self._status(result.state)[0],
            tags={
                LEVEL: "configuration",
                SWEEP: self.sweep.name,
                CONFIGURATION: result.address,
                PARENT: parent.run_id,
                SEEDS: "{}",
            },
            parameters=swept_values(result.configuration),
            inputs=inputs,
            files=[File(first, "experiment.yaml")],
        )
        logged = logged or self.mlflow.create(content)
        for trial in trials:
            seeds[trial.folder.name] = self._sync_seed(
                logged, result, trial, seeds.get(trial.folder.name)
            )
        by_seed = {trial.seed: seeds[trial.folder.name] for trial in trials}
        ends = [run_status(trial.folder)[1] for trial in trials if trial.progress == "finished"]
        content.finished = self._finished(
            logged, content.status, max(filter(None, ends), default=None)
        )
        notes = stored_runs.corpus_notes(first, inputs)
        self.notes += [note for note in notes if note not in self.notes]
        content.tags |= self._configuration_tags(result)
        content.tags[SEEDS] = json.dumps(
            {seed: run.run_id for seed, run in sorted(by_seed.items())}
        )
        content.tags[NOTE] = "\n\n".join([*notes, "\n".join(self._links(trials, by_seed))])
        self._set_metrics(content, logged, result, trials)
        self.mlflow.update(logged, content)

    def _configuration_tags(self, result: ConfigurationResult) -> dict[str, str]:
        sweep = self.sweep
        return {
            STATE: self._status(result.state, result.rung)[1],
            "augury.question": sweep.question,
            "augury.metric": sweep.metric,
            "augury.scale": sweep.scale,
            "augury.reference": "yes" if result.address == sweep.reference else "no",
        }

    def _set_metrics(
        self,
        content: RunContent,
        logged: LoggedRun,
        result: ConfigurationResult,
        trials: Sequence[Trial],
    ) -> None:
        """Set the metrics of a configuration; logged metrics that no longer hold become NaN."""
        metrics = best_validation(self.sweep, result)
        obsolete = {name for name in logged.metrics if name.startswith("best/")}
        done = [
            trial.folder
            for trial in trials
            if trial.progress == "finished" and trial.folder.exists(SCORES)
        ]
        scored = json.dumps([[folder.name, run_status(folder)[1]] for folder in done])
        if logged.tags.get(SCORED, "[]") != scored:
            means, tags = mean_scores(done) if done else ({}, {})
            metrics |= means
            content.tags |= tags | {SCORED: scored}
            obsolete = set(logged.metrics)
        content.final_metrics = dict.fromkeys(obsolete) | metrics

    def _sync_seed(
        self, parent: LoggedRun, result: ConfigurationResult, trial: Trial, logged: LoggedRun | None
    ) -> LoggedRun:
        sweep, run = self.sweep, trial.folder
        logged = logged or self.mlflow.find(folder=run.name)
        ours = logged is None or logged.tags.get(SWEEP) == sweep.name
        if read_record(run) and not (ours and logged):
            return sync_run(self.mlflow, run, logged)  # started by `augury train`
        status, text = self._status(trial.progress, result.rung, trial.error)
        finished = self._finished(
            logged, status, run_status(run)[1] if trial.progress == "finished" else None
        )
        if logged and logged.tags.get(STATE) == text and logged.ended(status, finished):
            return logged
        content = run_content(run, logged, status, finished)
        # The values of a population's members change in training; they are metrics instead.
        keys = () if sweep.scheduler == "pbt" else swept_values(result.configuration)
        content.parameters = {
            key: value for key, value in content.parameters.items() if key in keys
        }
        content.tags |= {LEVEL: "seed", STATE: text}
        content.inputs, content.files, content.model = (), (), None  # logged with the configuration
        if ours:
            content.tags |= {SWEEP: sweep.name, PARENT: parent.run_id}
        if status != "RUNNING" and trial.curve:
            values = [point.value for point in trial.curve]
            best = (max if sweep.mode == "max" else min)(values)
            content.final_metrics = {**content.final_metrics, f"best/{sweep.metric}": best}
        logged = logged or self.mlflow.create(content)
        self.mlflow.update(logged, content)
        return logged

    def _status(
        self, progress: Progress, rung: int | None = None, error: str | None = None
    ) -> tuple[Status, str]:
        """Return the state of a seed or configuration as MLflow's status and as text.

        Stopped trials are KILLED, as pruned trials are in other libraries, so that `status =
        'FINISHED'` selects the comparable runs.
        """
        match progress:
            case "finished":
                return "FINISHED", "finished"
            case "failed":
                return "FAILED", f"failed: {error}" if error else "failed"
            case "stopped":
                return "KILLED", "stopped" if rung is None else f"stopped at rung {rung}"
        return ("RUNNING", "running") if self.status == "RUNNING" else ("KILLED", "interrupted")

    def _finished(
        self, logged: LoggedRun | None, status: Status, finished: float | None
    ) -> float | None:
        """Return the end time; for stopped or interrupted runs, the time at which this was first
        synced."""
        if (
            finished is None
            and logged is not None
            and logged.status == status
            and logged.finished is not None
        ):
            return logged.finished / 1000
        return self.sweep.updated if finished is None else finished

    def _links(self, trials: Sequence[Trial], by_seed: Mapping[int, LoggedRun]) -> list[str]:
        return [
            f"- seed {trial.seed}: [{by_seed[trial.seed].run_id}]"
            f"({self.mlflow.link}/{by_seed[trial.seed].run_id}) "
            + ", ".join(filter(None, [trial.progress, trial.error]))
            for trial in trials
        ]

    def _sync_parent(
        self,
        logged: LoggedRun,
        content: RunContent,
        ranking: Sequence[ConfigurationResult],
        seeds: Mapping[str, LoggedRun],
    ) -> None:
        """Sync the sweep's own run."""
        sweep, best = self.sweep, leader(self.sweep, ranking)
        content.tags |= self._sweep_tags(logged, best) | source_tags(read_record(sweep.folder))
        content.final_metrics = self._sweep_metrics(best)
        content.points = unsent_points(sweep.folder.sub(SYSTEM), logged, SYSTEM)
        content.status, content.finished = self.status, sweep.updated
        if content.status != "RUNNING" and not logged.ended(content.status, sweep.updated):
            names = [name for name in (state.DEFINITION, state.PAGE) if sweep.folder.exists(name)]
            content.files = [File(sweep.folder, name) for name in names]
            for trial in best.configuration.trials if best else ():
                if trial.progress == "finished" and trial.folder.name in seeds:
                    files, model = artifact_files(trial.folder), model_writer(trial.folder)
                    self.mlflow.log_artifacts(seeds[trial.folder.name], files, model)
        self.mlflow.update(logged, content)

    def _sweep_tags(self, logged: LoggedRun, best: ConfigurationResult | None) -> dict[str, str]:
        sweep = self.sweep
        counts = {progress: sweep.count(progress) for progress in get_args(Progress)}
        tags = {
            "augury.question": sweep.question,
            "augury.metric": sweep.metric,
            "augury.mode": sweep.mode,
            "augury.scale": sweep.scale,
            "augury.scheduler": sweep.scheduler,
            "augury.keys": ", ".join(sweep.keys),
            "augury.seeds": ", ".join(map(str, sweep.seeds)),
            "augury.reference": sweep.reference,
            "augury.trials": ", ".join(
                f"{count} {name}" for name, count in counts.items() if count
            ),
        }
        if best is not None:
            tags |= {"augury.best": best.name, "augury.best_configuration": best.address}
        folders = [folder for of_seeds in sweep.scored().values() for folder in of_seeds.values()]
        scored = config.address([sweep.ended, *(run_status(folder)[1] for folder in folders)])
        if logged.tags.get(SCORED) != scored:
            tags |= {SCORED: scored, "augury.answer": answer(summary.summarise(sweep))}
        filter_string = f"tags.{SWEEP} = '{sweep.name}' and tags.{LEVEL} = 'configuration'"
        charts = self.mlflow.charts(
            filter_string, f"best/{sweep.metric}", lower_first=sweep.mode == "min"
        )
        tags[NOTE] = "\n\n".join(
            [
                sweep.question,
                f"**{tags.get('augury.answer') or logged.tags['augury.answer']}**",
                *self.notes,
                f"[Compare its configurations]({charts}), or filter runs by `{filter_string}`.",
                f"Files: `{sweep.folder.name}` in the storage",
            ]
        )
        return tags

    def _sweep_metrics(self, best: ConfigurationResult | None) -> dict[str, float | None]:
        sweep = self.sweep
        counts: tuple[Progress, ...] = ("finished", "failed", "stopped")
        metrics: dict[str, float | None] = {f"trials/{name}": sweep.count(name) for name in counts}
        metrics["cost/training_hours"] = sweep.seconds / 3600
        return metrics | (best_validation(sweep, best) if best is not None else {})


def mean_scores(folders: Sequence[Folder]) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return metrics and tags with the mean scores and cost of a configuration's scored seeds
    (at least one)."""
    (system,) = results.load(folders)
    values: dict[str, float | None] = {}
    tags = {}
    if system.cost is not None:
        tags["augury.device"] = system.cost.device
        for name in ("train_seconds", "cpu_seconds", "device_hours", "parameters", "data_factor"):
            values[f"cost/{name}"] = getattr(system.cost, name)
    records = [RunRecord.read(folder) for folder in folders]
    for test, metrics in system.tests.items():
        for name, estimate in metrics.items():
            scores = [
                score.value
                for record in records
                for score in record.tests.get(test, ())
                if score.name == name
            ]
            values |= dict(
                _spread(
                    f"test/{test}/{record_name(name)}",
                    estimate.value,
                    scores,
                    estimate.low,
                    estimate.high,
                )
            )
            tags[f"signature/{record_name(name)}"] = estimate.signature
    return values, tags


def best_validation(sweep: Sweep, result: ConfigurationResult) -> dict[str, float | None]:
    """Return the metrics of a configuration's best validation: mean, spread and interval over
    its seeds."""
    if result.mean is None:
        return {}
    name, values = f"best/{sweep.metric}", list(result.values.values())
    return dict(_spread(name, result.mean, values, result.low, result.high))


def swept_values(configuration: Configuration) -> dict[str, Any]:
    """Return the swept values by dotted key, as in the parameters of the seeds' runs."""
    point = configuration.point
    return {key: None for key, value in point.items() if value is None} | flatten(point)


def _spread(
    name: str, mean: float, values: Sequence[float], low: float | None, high: float | None
) -> Iterator[tuple[str, float]]:
    yield name, mean
    yield f"{name}/seeds", len(values)
    if len(values) > 1:
        yield f"{name}/sd", statistics.stdev(values)
    if low is not None and high is not None:
        yield f"{name}/low", low
        yield f"{name}/high", high
