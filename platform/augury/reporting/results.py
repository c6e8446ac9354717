"""Read systems and their scores from run folders; the seeds of one configuration are one system."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy.typing as npt

from augury.augment.health import Health
from augury.core import config
from augury.core.errors import UserError
from augury.core.store import Folder
from augury.experiments import stored_runs
from augury.experiments.record import DEVICES, Cost, RunRecord
from augury.experiments.spec import Experiment
from augury.experiments.systems import metrics_of
from augury.reporting import run_files
from augury.reporting.numbers import number
from augury.scoring.bootstrap import Resampled, resample
from augury.scoring.registry import bounds, lower_is_better, metric_class, title
from augury.scoring.significance import Interval, interval
from augury.scoring.stored import Measured, Score, read_statistics
from augury.training import history

MEAN = "mean"
"""The name of the mean over test sets, in the place of a test set's."""


@dataclass(frozen=True)
class Estimate:
    """The mean of a metric over seeds, with its 95 % interval."""

    value: float
    low: float
    high: float
    signature: str
    n: int
    """Sentences (or examples) of the test set."""
    seeds: tuple[int, ...]
    """The seeds that the mean is over."""
    sd: float | None = None
    """The standard deviation over seeds; None for a single one."""


def training_times(costs: Sequence[Cost | None]) -> tuple[str, list[float | None]]:
    """Return the kind of time in which trainings are compared, and that of one seed of each, in
    seconds: processor time if all ran on CPUs, which does not depend on what else runs there."""
    if all(cost.device == "cpu" and cost.cpu_seconds is not None for cost in costs if cost):
        return "CPU time", [cost.cpu_seconds if cost else None for cost in costs]
    return "wall time", [cost.train_seconds if cost else None for cost in costs]


def on_one_device(costs: Sequence[Cost]) -> bool:
    """Return whether all seeds of all systems were trained on one type of device, so that times
    can be compared."""
    devices = {cost.device for cost in costs}
    return len(devices) == 1 and DEVICES not in next(iter(devices))


@dataclass(frozen=True)
class SystemResult:
    """One configuration with all its seeds."""

    name: str
    address: str
    runs: Mapping[int, Folder]
    """The run folder of every seed."""
    task: str | None = None
    """None where no run is known."""
    tests: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)
    """Test set -> metric -> estimate over the seeds that are scored."""
    cost: Cost | None = None
    unscored: tuple[int, ...] = ()
    """Seeds without scores."""
    resampled: Mapping[str, Mapping[str, Resampled]] = field(default_factory=dict, repr=False)
    """Test set -> metric -> scores on resampled test sets, the same samples for all systems that
    are loaded together.

    A metric is missing where the statistics of a seed's sentences are gone.
    """
    outputs: tuple[Health, ...] = ()
    """What its operators made, those of earlier stages first."""
    notes: tuple[str, ...] = ()
    """Notes on its texts, such as that they are synthetic."""
    hardware: Mapping[int, str] = field(default_factory=dict)
    """Seed -> the processor or GPU that trained it, and the precision.

    Seeds of which it is not known are missing.
    """
    texts: Mapping[str, str] = field(default_factory=dict)
    """Test set -> the address of its text."""

    def score(self, test: str, metric: str) -> Estimate | None:
        """Return the estimate of a metric on a test set; None where it is not scored."""
        return self.tests.get(test, {}).get(metric)

    def samples(self, test: str, metric: str) -> Resampled | None:
        """Return the scores on resampled test sets; None where they are not known."""
        return self.resampled.get(test, {}).get(metric)

    def to_dict(self) -> dict[str, Any]:
        """Return the system as JSON-like values."""
        return {
            "name": self.name,
            "address": self.address,
            "task": self.task,
            "runs": {str(seed): folder.uri for seed, folder in self.runs.items()},
            "unscored": list(self.unscored),
            "hardware": {str(seed): hardware for seed, hardware in self.hardware.items()},
            "outputs": [output.to_dict() for output in self.outputs],
            "notes": list(self.notes),
        }


def load_groups(
    groups: Sequence[Mapping[int, Folder]],
    names: Sequence[str | None] | None = None,
    metrics: Sequence[str] = (),
    sets: Sequence[str] | None = None,
) -> list[SystemResult]:
    """Return one system for every group of runs by seed.

    Systems without a name in `names` have that of their runs; equal names are made distinct, also
    of one system in several storages.
    `metrics` and test `sets` are those of an experiment, in its order; without them, all by which
    the runs were ever scored, those of the experiment that first trained them first.
    """
    records = [{seed: RunRecord.read(run) for seed, run in group.items()} for group in groups]
    firsts = [next(iter(of_seeds.values())) for of_seeds in records]
    given = names or [None] * len(firsts)
    chosen = [name or record.name for name, record in zip(given, firsts, strict=True)]
    roots = {run.root for group in groups for run in group.values()}
    systems = []
    for name, first, group, of_seeds in zip(chosen, firsts, groups, records, strict=True):
        runs, run = dict(sorted(group.items())), next(iter(group.values()))
        if chosen.count(name) > 1:
            name += f" {first.address[:4]} seed {', '.join(map(str, runs))}"
            name += f" in {run.root}" if len(roots) > 1 else ""
        scored = {seed: of_seeds[seed] for seed in runs if of_seeds[seed].is_scored}
        by_metric: dict[tuple[str, str], dict[int, Score]] = {}
        for seed, record in scored.items():
            for test in record.tests if sets is None else sets:
                for score in _chosen(record.tests.get(test, ()), metrics):
                    by_metric.setdefault((test, score.name), {})[seed] = score
        texts = {  # the first seed may not be scored on all
            test: record.addresses[test]
            for record in reversed(scored.values())
            for test in record.tests.keys() & record.addresses.keys()
        }
        tests: dict[str, dict[str, Estimate]] = {}
        resampled: dict[str, dict[str, Resampled]] = {}
        for (test, metric), by_seed in by_metric.items():
            scorings = tuple((runs[seed], scored[seed].evaluations.get(test)) for seed in by_seed)
            sentences = tuple(score.n for score in by_seed.values())
            drawn = _resample_runs(scorings, test, metric, sentences)
            tests.setdefault(test, {})[metric] = estimate(by_seed, drawn)
            resampled.setdefault(test, {}).update({metric: drawn} if drawn else {})
        costs = [record.cost for record in scored.values() if record.cost]
        system = SystemResult(
            name=name,
            address=first.address,
            runs=runs,
            task=first.task,
            tests=tests,
            cost=Cost.mean(costs) if costs and len(costs) == len(scored) else None,
            unscored=tuple(seed for seed in runs if seed not in scored),
            resampled=resampled,
            outputs=tuple(run_files.operator_outputs(run, first)),
            notes=tuple(stored_runs.corpus_notes(run, first.inputs)),
            hardware={seed: record.hardware for seed, record in scored.items() if record.hardware},
            texts=texts,
        )
        systems.append(system)
    return systems


def _chosen(scores: Sequence[Score], metrics: Sequence[str]) -> list[Score]:
    """Return the scores by some metrics, in the order of these; without metrics, all."""
    known = {config.address(score.name): score for score in scores}  # wherever a file lies
    names = map(config.address, metrics) if metrics else known
    return [known[name] for name in names if name in known]


def load_experiment(
    runs_by_system: Mapping[str, Mapping[int, Folder]], described: Mapping[str, Experiment]
) -> list[SystemResult]:
    """Return the systems of an experiment, `described` by name, the baseline first, with their
    test sets and metrics alone. Seeds whose runs failed have no scores."""
    metrics = metrics_of(described.values())
    sets = list(dict.fromkeys(name for one in described.values() for name in one.test_sets))
    loaded = load_groups([*runs_by_system.values()], [*runs_by_system], metrics, sets)
    by_name = dict(zip(runs_by_system, loaded, strict=True))
    systems = []
    for name, experiment in described.items():
        result = by_name.get(name) or SystemResult(name, address="", runs={})
        failed = (seed for seed in experiment.seeds if seed not in result.runs)
        systems.append(replace(result, unscored=(*result.unscored, *failed)))
    return systems


def best_validations(run: Folder) -> dict[str, float]:
    """Return the best finite value of every metric in a run's validations.

    Empty before the first validation.
    """
    best: dict[str, float] = {}
    for record in history.read(run):
        for key, value in record["metrics"].items():
            name = key.removeprefix("valid/")
            if name not in (key, "best") and math.isfinite(value):
                metric = name.rpartition("/")[2]  # of `clean/bleu`, for a set called clean
                better = min if lower_is_better(metric) else max
                best[name] = better(value, best.get(name, value))
    return best


def best_text(best: Mapping[str, float]) -> str:
    """Return the best validations of a run: `loss 1.31, BLEU 24.20`."""
    return ", ".join(f"{title(metric)} {number(value, 'fine')}" for metric, value in best.items())


def from_scores(name: str, test: str, seeds: Mapping[Folder, Sequence[Measured]]) -> SystemResult:
    """Return a system of which only the scores on one test set are known: file of a seed's output
    -> scores by the same metrics."""
    address = config.address([file.uri for file in seeds])
    runs = dict(enumerate(seeds, start=1))
    estimates, resampled = {}, {}
    for scores in zip(*seeds.values(), strict=True):
        metric = scores[0].name
        drawn = _drawn(metric, [score.statistics for score in scores])
        resampled[metric] = drawn
        estimates[metric] = estimate(dict(zip(runs, scores, strict=True)), drawn)
    return SystemResult(
        name, address, runs=runs, tests={test: estimates}, resampled={test: resampled}
    )


@lru_cache(maxsize=1024)  # the page of a running sweep is rendered repeatedly
def _resample_runs(
    runs: Sequence[tuple[Folder, str | None]], test: str, metric: str, sentences: Sequence[int]
) -> Resampled | None:
    """Return the scores of a system's seeds on resampled sentences; None where the statistics of
    all `sentences` of a run, or the metric, are gone.

    `runs` have the hashes of their scoring, which are part of the cache's key.
    """
    counts = [read_statistics(run, test).get(metric) for run, _ in runs]
    pairs = zip(counts, sentences, strict=True)
    whole = [known for known, n in pairs if known is not None and len(known) == n]
    if len(whole) < len(runs) or len(set(sentences)) > 1:
        return None
    try:
        return _drawn(metric, whole)
    except UserError:  # the file of a metric of one's own is gone
        return None


def _drawn(metric: str, counts: Sequence[npt.NDArray[Any]]) -> Resampled:
    """Return scores on resampled sentences; `counts` are the statistics of every seed."""
    scorer = metric_class(metric)
    return resample(counts, scorer.value, examples=scorer.examples(counts[0]))


def estimate(by_seed: Mapping[int, Score], resampled: Resampled | None) -> Estimate:
    """Return the mean of a metric's scores over seeds, with its interval cut to the metric's range.

    `resampled` are the scores of the same seeds on resampled test sets; without them, the interval
    holds those of all seeds.
    """
    scores = list(by_seed.values())
    values, signatures = [score.value for score in scores], [score.signature for score in scores]
    known = Interval(min(score.low for score in scores), max(score.high for score in scores))
    ends = interval(resampled) if resampled else known
    return Estimate(
        statistics.fmean(values),
        *ends.within(bounds(scores[0].name)),
        signature=" or ".join(dict.fromkeys(signatures)),
        n=scores[0].n,
        seeds=tuple(by_seed),
        sd=deviation(values),
    )


def deviation(values: Sequence[float]) -> float | None:
    """Return the standard deviation over seeds; None for a single one."""
    return statistics.stdev(values) if len(values) > 1 else None
