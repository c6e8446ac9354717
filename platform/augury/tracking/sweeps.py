"""The record of a sweep in MLflow: a run for the sweep, under it one for each configuration, under those its seeds.

The three levels share metric names: `test/<set>/<score>` of a configuration is the mean over its seeds, and `.../sd`,
`.../low`, `.../high`, `.../seeds` stand beside it; `best/<metric>` is the best validation. The parameters of
configurations and seeds are the swept keys alone, so that MLflow's comparisons show these first. The run of a seed that
`augury train` or an earlier sweep has recorded stays where it is.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from augury.core.config import flatten
from augury.core.store import Folder, Store
from augury.experiments import runs
from augury.experiments.recording import File
from augury.reporting import results
from augury.reporting.sweeps import summary
from augury.reporting.sweeps.answer import answer
from augury.reporting.sweeps.summary import ConfigurationResult, leader
from augury.scoring.metrics import record_name
from augury.sweeping import state
from augury.sweeping.state import Configuration, Progress, Sweep, Trial
from augury.tracking.client import FOLDER, NOTE, PARENT, Content, MlflowExperiment, Record, Status
from augury.tracking.runs import (
    SYSTEM,
    ending,
    files_of,
    model_of,
    noted,
    run_content,
    source_tags,
    sync_run,
    unsent_points,
)

LEVEL, SWEEP, STATE = "augury.level", "augury.sweep", "augury.state"
CONFIGURATION, SEEDS, SCORED = "augury.configuration", "augury.seeds", "augury.scored"
"""Of a configuration: its address, the runs of its seeds, and which scores its means, or a sweep's answer, are from."""


def sync_sweep(mlflow: MlflowExperiment, folder: Folder) -> None:
    """Bring MLflow up to date with a sweep and its trials.

    UserError where a file of one of its runs is damaged.
    """
    _Sync(mlflow, state.load(Store(folder.root), folder.name.partition("/")[2])).run()


def ended_alike(record: Record, folder: Folder) -> bool:
    """Return whether MLflow has the end of a sweep as its driver has left it, without reading its trials."""
    progress = folder.read_json(state.STATE) if folder.exists(state.STATE) else {"time": 0.0}
    return any(record.ended(status, progress["time"]) for status in ("FINISHED", "FAILED", "KILLED"))


@dataclass
class _Sync:
    """One pass over a sweep."""

    mlflow: MlflowExperiment
    sweep: Sweep
    notes: list[str] = field(default_factory=list)
    """Cautions on the texts of all configurations."""

    def run(self) -> None:
        """Bring everything up to date, the sweep's own run last."""
        sweep = self.sweep
        self.status = self._ending()
        records = self.mlflow.search(sweep=sweep.name)[::-1]  # of twins, the oldest counts
        configurations = {record.tags[CONFIGURATION]: record for record in records if CONFIGURATION in record.tags}
        seeds = {record.tags[FOLDER]: record for record in records if record.tags.get(LEVEL) == "seed"}
        content = Content(sweep.name, "RUNNING", started=sweep.started, tags={LEVEL: "sweep", SWEEP: sweep.name})
        content.tags[FOLDER] = sweep.folder.name
        whole = self.mlflow.find(folder=sweep.folder.name) or self.mlflow.create(content)
        ranking = summary.ranking(sweep)
        for result in ranking:
            trials = [
                trial
                for trial in result.configuration.trials
                if (trial.progress != "waiting" and trial.folder.exists(runs.DESCRIPTION))
                or (self.status != "RUNNING" and trial.folder.name in seeds)  # begun by a command that was killed
            ]
            if trials:
                self._configuration(whole, configurations.get(result.address), result, trials, seeds)
        self._whole(whole, content, ranking, seeds)

    def _ending(self) -> Status:
        """Return the status of the sweep; one that has not come to its end was interrupted, or goes on."""
        sweep, noted_status = self.sweep, noted(self.sweep.folder).get("status", "RUNNING")
        if sweep.ended:
            return "FINISHED" if sweep.count("finished") else "FAILED"
        if noted_status == "FAILED":
            return "FAILED"
        return "RUNNING" if noted_status == "RUNNING" and sweep.silent is None else "KILLED"

    def _configuration(
        self,
        whole: Record,
        record: Record | None,
        result: ConfigurationResult,
        trials: Sequence[Trial],
        seeds: dict[str, Record],
    ) -> None:
        sweep, address, first = self.sweep, result.address, trials[0].folder
        swept = swept_values(result.configuration)
        content = Content(
            title=result.configuration.name,
            status=self._status(result.state)[0],
            tags={LEVEL: "configuration", SWEEP: sweep.name, CONFIGURATION: address, PARENT: whole.run_id, SEEDS: "{}"},
            parameters=swept,
            inputs=first.read_json(runs.DESCRIPTION)["inputs"],
            files=[File(first, "experiment.yaml")],
        )
        record = record or self.mlflow.create(content)
        for trial in trials:
            seeds[trial.folder.name] = self._seed(record, result, trial, seeds.get(trial.folder.name))
        sent = {trial.seed: seeds[trial.folder.name] for trial in trials}
        ends = [ending(trial.folder)[1] for trial in trials if trial.progress == "finished"]
        content.finished = self._finished(record, content.status, max(filter(None, ends), default=None))
        cautions = runs.notes(first)
        self.notes += [caution for caution in cautions if caution not in self.notes]
        content.tags |= {
            STATE: self._status(result.state, result.rung)[1],
            SEEDS: json.dumps({seed: seed_record.run_id for seed, seed_record in sorted(sent.items())}),
            "augury.question": sweep.question,
            "augury.metric": sweep.metric,
            "augury.scale": sweep.scale,
            "augury.reference": "yes" if address == sweep.reference else "no",
            NOTE: "\n\n".join([*cautions, "\n".join(self._links(trials, sent))]),
        }
        content.finals = best_validation(sweep, result)
        done = [trial.folder for trial in trials if trial.progress == "finished" and trial.folder.exists(runs.SCORES)]
        scored = json.dumps([[folder.name, ending(folder)[1]] for folder in done])
        holds_no_longer = {name for name in record.metrics if name.startswith("best/")}
        if record.tags.get(SCORED, "[]") != scored:
            values, tags = mean_scores(done) if done else ({}, {})
            content.finals |= values
            content.tags |= tags | {SCORED: scored}
            holds_no_longer = set(record.metrics)
        content.finals = dict.fromkeys(holds_no_longer) | content.finals
        self.mlflow.update(record, content)

    def _seed(self, parent: Record, result: ConfigurationResult, trial: Trial, record: Record | None) -> Record:
        sweep, run = self.sweep, trial.folder
        record = record or self.mlflow.find(folder=run.name)
        ours = record is None or record.tags.get(SWEEP) == sweep.name
        if noted(run) and not (ours and record):
            return sync_run(self.mlflow, run, record)  # `augury train` has begun it
        status, text = self._status(trial.progress, result.rung, trial.error)
        finished = self._finished(record, status, ending(run)[1] if trial.progress == "finished" else None)
        if record and record.tags.get(STATE) == text and record.ended(status, finished):
            return record
        content = run_content(run, record, status, finished)
        keys = () if sweep.scheduler == "pbt" else swept_values(result.configuration)  # a population changes its own
        content.parameters = {key: value for key, value in content.parameters.items() if key in keys}
        content.tags |= {LEVEL: "seed", STATE: text}
        content.inputs, content.files, content.model = (), (), None  # those of its configuration count
        if ours:
            content.tags |= {SWEEP: sweep.name, PARENT: parent.run_id}
        if status != "RUNNING" and trial.curve:
            values = [point.value for point in trial.curve]
            content.finals = {**content.finals, f"best/{sweep.metric}": (max if sweep.mode == "max" else min)(values)}
        record = record or self.mlflow.create(content)
        self.mlflow.update(record, content)
        return record

    def _status(self, progress: Progress, rung: int | None = None, error: str | None = None) -> tuple[Status, str]:
        """Return the state of a seed or a configuration, for MLflow and in words.

        What the race ended is KILLED, as pruned trials are elsewhere, so that `status = 'FINISHED'` leaves the runs
        that compare.
        """
        match progress:
            case "finished":
                return "FINISHED", "finished"
            case "failed":
                return "FAILED", f"failed: {error}" if error else "failed"
            case "stopped":
                return "KILLED", "stopped" if rung is None else f"stopped at rung {rung}"
        return ("RUNNING", "running") if self.status == "RUNNING" else ("KILLED", "interrupted")

    def _finished(self, record: Record | None, status: Status, finished: float | None) -> float | None:
        """Return when something ended; of what was stopped or interrupted, when that was first heard of."""
        if finished is None and record is not None and record.status == status and record.finished is not None:
            return record.finished / 1000
        return self.sweep.updated if finished is None else finished

    def _links(self, trials: Sequence[Trial], sent: Mapping[int, Record]) -> list[str]:
        return [
            f"- seed {trial.seed}: [{sent[trial.seed].run_id}]({self.mlflow.link}/{sent[trial.seed].run_id}) "
            + ", ".join(filter(None, [trial.progress, trial.error]))
            for trial in trials
        ]

    def _whole(
        self, record: Record, content: Content, ranking: Sequence[ConfigurationResult], seeds: Mapping[str, Record]
    ) -> None:
        sweep, best = self.sweep, leader(self.sweep, ranking)
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
            "augury.trials": ", ".join(f"{count} {name}" for name, count in counts.items() if count),
        }
        finals: dict[str, float | None] = {f"trials/{name}": counts[name] for name in ("finished", "failed", "stopped")}
        finals["cost/training_hours"] = sweep.seconds / 3600
        if best is not None:
            tags |= {"augury.best": best.name, "augury.best_configuration": best.address}
            finals |= best_validation(sweep, best)
        folders = [folder for of_seeds in sweep.scored().values() for folder in of_seeds.values()]
        scored = json.dumps([sweep.ended, *(ending(folder)[1] for folder in folders)])
        if record.tags.get(SCORED) != scored:
            tags |= {SCORED: scored, "augury.answer": answer(summary.summarise(sweep))}
        comparing = f"tags.{SWEEP} = '{sweep.name}' and tags.{LEVEL} = 'configuration'"
        charts = self.mlflow.charts(comparing, f"best/{sweep.metric}", lower_first=sweep.mode == "min")
        reply = tags.get("augury.answer") or record.tags["augury.answer"]
        tags[NOTE] = "\n\n".join(
            [
                sweep.question,
                f"**{reply}**",
                *self.notes,
                f"[Compare its configurations]({charts}), or filter runs by `{comparing}`.",
                f"Its files: {sweep.folder.uri}",
            ]
        )
        content.tags |= tags | source_tags(noted(sweep.folder))
        content.finals = finals
        content.points = unsent_points(sweep.folder.sub(SYSTEM), record, SYSTEM)
        content.status, content.finished = self.status, sweep.updated
        if content.status != "RUNNING" and not record.ended(content.status, sweep.updated):
            names = [name for name in (state.DEFINITION, state.PAGE) if sweep.folder.exists(name)]
            content.files = [File(sweep.folder, name) for name in names]
            for trial in best.configuration.trials if best else ():
                if trial.progress == "finished" and trial.folder.name in seeds:
                    self.mlflow.keep(seeds[trial.folder.name], files_of(trial.folder), model_of(trial.folder))
        self.mlflow.update(record, content)


def mean_scores(folders: Sequence[Folder]) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return the metrics and tags of the scored seeds of one configuration, of which there must be one."""
    (system,) = results.load(folders)
    values: dict[str, float | None] = {}
    tags = {}
    if system.cost is not None:
        tags["augury.device"] = system.cost.device
        for name in ("train_seconds", "device_hours", "parameters", "data_factor"):
            values[f"cost/{name}"] = getattr(system.cost, name)
    seeds = [folder.read_json(runs.SCORES)["tests"] for folder in folders]
    for test, metrics in system.tests.items():
        for name, estimate in metrics.items():
            scores = [score["value"] for tests in seeds for score in tests.get(test, ()) if score["name"] == name]
            values |= dict(
                _spread(f"test/{test}/{record_name(name)}", estimate.value, scores, estimate.low, estimate.high)
            )
            tags[f"signature/{record_name(name)}"] = estimate.signature
    return values, tags


def best_validation(sweep: Sweep, result: ConfigurationResult) -> dict[str, float | None]:
    """Return what a configuration has reached in validation: the mean over its seeds and how far it is known."""
    if result.mean is None:
        return {}
    name, values = f"best/{sweep.metric}", list(result.values.values())
    return dict(_spread(name, result.mean, values, result.low, result.high))


def swept_values(configuration: Configuration) -> dict[str, Any]:
    """Return the swept values under dotted names, as the runs of the seeds have them."""
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
