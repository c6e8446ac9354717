"""What MLflow is told of a sweep and of its configurations, beyond the runs of the seeds.

The two levels share metric names with the seeds: `test/<set>/<score>` of a configuration is the mean over its seeds,
and `.../sd`, `.../low`, `.../high`, `.../seeds` stand beside it. `best/<metric>` is the best validation.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args
from urllib.parse import quote, urlencode

from augury.core.config import flatten
from augury.core.store import Folder
from augury.experiments import runs
from augury.reporting import results
from augury.reporting.sweeps.summary import ConfigurationResult, leader
from augury.sweeping.state import DEFINITION, PAGE, Configuration, Progress, Sweep, Trial
from augury.tracking.backend import Content, File, Status, Value

LEVEL, SWEEP, CONFIGURATION, STATE = "augury.level", "augury.sweep", "augury.configuration", "augury.state"


def identity(sweep: Sweep, configuration: Configuration | None = None) -> dict[str, str]:
    """How the run of a sweep or of one of its configurations is found again."""
    tags = {LEVEL: "sweep", SWEEP: sweep.name, "augury.storage": sweep.folder.root}
    return tags if configuration is None else {**tags, LEVEL: "configuration", CONFIGURATION: configuration.address}


def ending(sweep: Sweep, address: str, trial: Trial, interrupted: bool) -> tuple[Status, str]:
    """The state of the run of a seed of the configuration at `address`, for MLflow and in words.

    `interrupted`: nobody is at work on the sweep any more. A run that the race ended is KILLED, as pruned trials are
    elsewhere, so that `status = 'FINISHED'` leaves the runs that compare.
    """
    match trial.progress:
        case "finished":
            return "FINISHED", "finished"
        case "failed":
            return "FAILED", f"failed: {trial.error}" if trial.error else "failed"
        case "stopped":
            rungs = [each.rung for each in sweep.decisions if each.address == address and each.action == "stopped"]
            return "KILLED", _stopped(rungs[-1] if rungs else None)
    return ("KILLED", "interrupted") if interrupted else ("RUNNING", "running")


def conclusion(standing: ConfigurationResult, interrupted: bool) -> tuple[Status, str]:
    """The same for a configuration that has begun."""
    match standing.state:
        case "finished":
            return "FINISHED", "finished"
        case "failed":
            return "FAILED", "failed"
        case "stopped":
            return "KILLED", _stopped(standing.rung)
    return ("KILLED", "interrupted") if interrupted else ("RUNNING", "running")


def of_configuration(
    sweep: Sweep,
    standing: ConfigurationResult,
    scores: Mapping[str, float | str],
    run_ids: Mapping[int, str],
    cautions: Sequence[str],
    link: str,
) -> Content:
    """A configuration: the swept values, what it reached in validation, and `scores` as `scored` gives them.

    `run_ids` are those of its seeds; `cautions` say what must be known of its texts; `link` is where MLflow's pages
    show runs.
    """
    configuration, now = standing.configuration, time.time()
    tags = {
        "augury.question": sweep.question,
        "augury.metric": sweep.metric,
        "augury.scale": sweep.scale,
        "augury.reference": "yes" if configuration.address == sweep.reference else "no",
        "augury.seeds": json.dumps(run_ids),
    }
    tags |= {name: text for name, text in scores.items() if isinstance(text, str)}
    values = {name: number for name, number in scores.items() if not isinstance(number, str)}
    values |= _reached(sweep, standing)
    swept = swept_values(configuration)
    if sweep.scheduler == "pbt":  # changes while it runs, and MLflow keeps the first value of a parameter
        values |= {key: float(value) for key, value in swept.items() if _numeric(value)}
        tags |= {f"augury.{key}": json.dumps(value) for key, value in swept.items() if not _numeric(value)}
        swept = {}
    seeds = [
        f"- seed {trial.seed}: [{run_ids[trial.seed]}]({link}/{run_ids[trial.seed]}) {trial.progress}"
        + (f", {trial.error}" if trial.error else "")
        for trial in configuration.trials
        if trial.seed in run_ids
    ]
    tags["mlflow.note.content"] = "\n\n".join([*cautions, "\n".join(seeds)])
    return Content(tags, swept, values=[Value(name, number, now, 0) for name, number in values.items()], exact=True)


def of_sweep(
    sweep: Sweep, standings: Sequence[ConfigurationResult], answer: str | None, cautions: Sequence[str], link: str
) -> Content:
    """A sweep as a whole."""
    first = leader(sweep, standings)
    counts = {progress: sweep.count(progress) for progress in get_args(Progress)}
    values: dict[str, float] = {f"trials/{name}": counts[name] for name in ("finished", "failed", "stopped")}
    values["cost/training_hours"] = sum(trial.seconds for each in sweep.configurations for trial in each.trials) / 3600
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
    if first is not None:
        tags |= {"augury.best": first.name, "augury.best_configuration": first.address}
        values |= _reached(sweep, first)
    if answer:
        tags["augury.answer"] = answer
    comparing = f"tags.{SWEEP} = '{sweep.name}' and tags.{LEVEL} = 'configuration'"
    said = [sweep.question, *([f"**{answer}**"] if answer else []), *cautions]
    said += [
        f"[Compare its configurations]({link}?{_charts(sweep, comparing)}), or filter runs by `{comparing}`.",
        f"Its files: {sweep.folder.uri}",
    ]
    tags["mlflow.note.content"] = "\n\n".join(said)
    now = time.time()
    return Content(tags, values=[Value(name, number, now, 0) for name, number in values.items()], exact=True)


def files_of(sweep: Sweep) -> list[File]:
    """What a sweep leaves for people: what was asked, and its page."""
    return [File(sweep.folder, name) for name in (DEFINITION, PAGE) if sweep.folder.exists(name)]


def scored(folders: Sequence[Folder]) -> dict[str, float | str]:
    """Metrics (numbers) and tags (texts) of the seeds of one configuration that have scores; needs one at least."""
    (system,) = results.load(folders)
    assert system.cost is not None
    found: dict[str, float | str] = {"augury.device": system.cost.device}
    for name in ("train_seconds", "device_hours", "parameters", "data_factor"):
        found[f"cost/{name}"] = getattr(system.cost, name)
    seeds = [folder.read_json(runs.SCORES)["tests"] for folder in folders]
    for test, metrics in system.tests.items():
        for name, estimate in metrics.items():
            values = [score["value"] for tests in seeds for score in tests.get(test, ()) if score["name"] == name]
            found |= dict(_spread(f"test/{test}/{name}", estimate.value, values, estimate.low, estimate.high))
            found[f"signature/{name}"] = estimate.signature
    return found


def reached(sweep: Sweep, trial: Trial) -> dict[str, float]:
    """The best validation of a seed."""
    values = [point.value for point in trial.curve]
    return {f"best/{sweep.metric}": max(values) if sweep.mode == "max" else min(values)} if values else {}


def swept_values(configuration: Configuration) -> dict[str, Any]:
    """The swept values under dotted names, as the runs of the seeds have them."""
    point = configuration.point
    return {key: None for key, value in point.items() if value is None} | flatten(point)


def _charts(sweep: Sweep, condition: str) -> str:
    """The query of MLflow's page of charts; sorted by a metric, configurations stand beside each other."""
    asked = {
        "searchFilter": condition,
        "compareRunsMode": "CHART",
        "orderByKey": f"metrics.`best/{sweep.metric}`",
        "orderByAsc": "true" if sweep.mode == "min" else "false",
    }
    return urlencode(asked, quote_via=quote)


def _reached(sweep: Sweep, standing: ConfigurationResult) -> dict[str, float]:
    if standing.mean is None:
        return {}
    at = f"best/{sweep.metric}"
    return dict(_spread(at, standing.mean, list(standing.values.values()), standing.low, standing.high))


def _spread(
    at: str, mean: float, values: Sequence[float], low: float | None, high: float | None
) -> Iterator[tuple[str, float]]:
    yield at, mean
    yield f"{at}/seeds", len(values)
    if len(values) > 1:
        yield f"{at}/sd", statistics.stdev(values)
    if low is not None and high is not None:
        yield f"{at}/low", low
        yield f"{at}/high", high


def _stopped(rung: int | None) -> str:
    return "stopped" if rung is None else f"stopped at rung {rung}"


def _numeric(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
