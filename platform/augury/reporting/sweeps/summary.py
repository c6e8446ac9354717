"""A sweep in numbers: the scores of its configurations in validation and on the test sets, best
first."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from augury.experiments import stored_runs
from augury.reporting import results, run_files
from augury.reporting.comparison import Comparison, Row, scored_sets
from augury.reporting.mean import compare_all, with_mean
from augury.reporting.numbers import MISSING, adaptive, adaptive_interval, seeds, spread
from augury.reporting.results import SystemResult
from augury.reporting.score_tables import score_cells, score_columns
from augury.reporting.sweeps.confirmation import Confirmed, confirmed
from augury.reporting.tables import Cell
from augury.scoring.best import probability_best
from augury.scoring.registry import bounds, lower_is_better, title
from augury.scoring.significance import Interval
from augury.sweeping.schedulers import half_widths, net
from augury.sweeping.state import Configuration, Progress, Sweep, Trial


@dataclass(frozen=True)
class ConfigurationResult:
    """A configuration with its score in validation."""

    configuration: Configuration
    state: Progress
    """stopped: its budget or Ctrl-C ended it; failed: no seed is left to finish."""
    values: Mapping[int, float]
    """Seed -> the best validation so far, of the seeds that got furthest."""
    settled: bool
    """Whether those seeds have ended or wait for a decision."""
    mean: float | None
    deviation: float | None
    """The standard deviation over seeds."""
    seconds: float | None
    """The training time, as mean over the seeds in `values`."""
    low: float | None = None
    high: float | None = None
    """The 95 % interval of the mean over seeds, cut to the metric's range; None for stopped and
    running configurations, and until two seeds show the deviation."""
    half: float | None = None
    """Half the interval before it was cut."""

    @property
    def name(self) -> str:
        """The name: the swept values, for people."""
        return self.configuration.name

    @property
    def address(self) -> str:
        """The address of its runs."""
        return self.configuration.address

    @property
    def finished(self) -> int:
        """The number of seeds that have finished."""
        return sum(trial.progress == "finished" for trial in self.configuration.trials)

    @property
    def score_text(self) -> str:
        """The mean with its interval: `31.2 [30.8, 31.6] (3 seeds)`, or `31.2 (not trained to the
        end)` where no seed is finished."""
        if self.mean is None:
            return MISSING
        shown = adaptive_interval(self.mean, self.low, self.high)
        trained = seeds(len(self.values)) if self.finished else "not trained to the end"
        return f"{shown} ({trained})"

    @property
    def spread_text(self) -> str:
        """The mean over seeds with its standard deviation: `31.2 ± 0.4`."""
        return spread(self.mean, self.deviation, lambda value: adaptive(value, like=self.mean))


@dataclass(frozen=True)
class Summary:
    """A sweep in numbers."""

    sweep: Sweep
    ranking: tuple[ConfigurationResult, ...]
    """Sorted by the validation metric, best first.

    Then stopped ones, then those without a validation.
    """
    leader: ConfigurationResult | None
    """The configuration that the race chose, or the best of those with a finished seed; before one
    has, the best so far."""
    comparisons: tuple[Comparison, ...]
    """The scored configurations on the mean of several test sets, and on every one.

    The reference is the first row.
    """
    chances: Mapping[str, float]
    """Address -> the probability to be the best on the deciding test set, of scored ones; empty
    where no configuration has two seeds."""
    confirmed: Confirmed | None = None
    """The test of the leader with fresh seeds."""

    @property
    def cautions(self) -> list[str]:
        """Warnings that belong to the answer."""
        untested = [stored_runs.NO_TESTS] if self.sweep.tests == () else []
        return [
            *untested,
            *dict.fromkeys(line for item in self.comparisons for line in item.warnings),
        ]

    @property
    def metric(self) -> str:
        """The metric that configurations are ranked by: `validation BLEU` for `valid/bleu`."""
        return f"validation {title(self.sweep.metric_name)}"

    @property
    def deciding(self) -> Comparison | None:
        """The comparison on the test set, or on the mean of several."""
        return self.comparisons[0] if self.comparisons else None

    @property
    def reference(self) -> ConfigurationResult:
        """The configuration that the others are compared with."""
        return next(result for result in self.ranking if result.address == self.sweep.reference)

    @property
    def failures(self) -> dict[str, Trial]:
        """The trials that failed, by configuration and seed, for people."""
        failed = [
            (configuration, trial)
            for configuration, trial in self.sweep.trials
            if trial.progress == "failed"
        ]
        return {
            f"{configuration.name}, seed {trial.seed}": trial for configuration, trial in failed
        }

    @property
    def score_columns(self) -> list[str]:
        """The titles of the columns of `score_cells`; empty before anything is scored."""
        if self.deciding is None:
            return []
        score, *others = score_columns(self.deciding)
        return [f"{score.partition(' [')[0]} {self.deciding.test}", *others]

    def score_cells(self, result: ConfigurationResult) -> list[Cell]:
        """Return the deciding scores of a configuration."""
        return score_cells(self.deciding, self.row(result)) if self.deciding else []

    def row(self, result: ConfigurationResult) -> Row | None:
        """Return the deciding comparison of a configuration; None where it is not scored."""
        return self.deciding.row(result.address) if self.deciding else None

    @property
    def time_factor_title(self) -> str:
        """The title of the column of `time_factor`."""
        on_cpus = self.deciding is not None and self.deciding.time_kind == "CPU time"
        return "CPU × reference" if on_cpus else "× reference"

    def time_factor(self, result: ConfigurationResult) -> float | None:
        """Return the time of a configuration as a multiple of the reference's, where both are
        known."""
        row = self.row(result)
        return row.time_factor if row else None


def summarise(sweep: Sweep) -> Summary:
    """Summarise a sweep from its curves and its scored runs."""
    ranked = ranking(sweep)
    systems = _scored_systems(sweep)
    tests = scored_sets(systems)
    ahead = leader(sweep, ranked, finished=True) or leader(sweep, ranked)
    comparisons = tuple(compare_all(systems, tests))
    chances = _chances(with_mean(systems, tests), comparisons[0]) if comparisons else {}
    tested = confirmed(sweep, ahead.address) if ahead else None
    return Summary(sweep, ranked, ahead, comparisons, chances, tested)


def ranking(sweep: Sweep) -> tuple[ConfigurationResult, ...]:
    """Return the configurations sorted by their validations, best first; test scores are not read.

    The interval of a mean is that of the race: Student's, with the deviation of seeds pooled over
    the configurations that have not been stopped. It is cut to the metric's range.
    """
    results = [_result(sweep, configuration) for configuration in sweep.configurations]
    settled = {
        result.address: list(result.values.values())
        for result in results
        if result.settled and result.state != "stopped"
    }
    halves = half_widths(settled)
    range_of_metric = bounds(sweep.metric_name)
    for index, result in enumerate(results):
        if result.mean is not None and (half := halves.get(result.address)) is not None:
            between = Interval(result.mean - half, result.mean + half).within(range_of_metric)
            results[index] = replace(result, low=between.low, high=between.high, half=half)
    sign = 1 if sweep.mode == "min" else -1

    def place(result: ConfigurationResult) -> tuple[bool, bool, float]:
        return (
            result.mean is None,
            result.state == "stopped",
            0.0 if result.mean is None else sign * result.mean,
        )

    return tuple(sorted(results, key=place))


def leader(
    sweep: Sweep, ranked: Sequence[ConfigurationResult], *, finished: bool = False
) -> ConfigurationResult | None:
    """Return the configuration that the race chose, or the best so far, less the price of its
    training time, of those that were not stopped; with `finished`, of those with a finished
    seed, as where the sweep has ended."""
    known = {result.address: result for result in ranked}
    chosen = [decision.configuration for decision in sweep.decisions if decision.action == "chosen"]
    if chosen := [address for address in chosen if address in known]:
        return known[chosen[-1]]
    racing = [
        result
        for result in ranked
        if result.mean is not None
        and result.state != "stopped"
        and (result.finished or not (finished or sweep.ended))
    ]

    def worth(result: ConfigurationResult) -> float:
        assert result.mean is not None
        paid = net(result.mean, result.configuration.price, sweep.mode)
        return paid if sweep.mode == "max" else -paid

    return max(racing, key=worth, default=None)


def _result(sweep: Sweep, configuration: Configuration) -> ConfigurationResult:
    """Return a configuration on its own, without an interval."""
    furthest = sweep.furthest(configuration)
    values, state = list(furthest.values()), _state(sweep, configuration)
    return ConfigurationResult(
        configuration,
        state,
        values={trial.seed: value for trial, value in furthest.items()},
        settled=bool(values) and all(trial.progress != "running" for trial in furthest),
        mean=statistics.fmean(values) if values else None,
        deviation=statistics.stdev(values) if len(values) > 1 else None,
        seconds=statistics.fmean(trial.seconds for trial in furthest) if values else None,
    )


def _state(sweep: Sweep, configuration: Configuration) -> Progress:
    states = {trial.progress for trial in configuration.trials}
    if "running" in states:
        return "running"
    if "finished" in states and (
        sweep.ended or sweep.scheduler != "all" or not states & {"waiting", "stopped"}
    ):
        return "finished"
    if "failed" in states and sweep.scheduler != "all":
        states.discard("waiting")  # a race goes on without a configuration that failed
    final: tuple[Progress, ...] = ("failed", "waiting") if sweep.ended else ("waiting", "failed")
    order: tuple[Progress, ...] = ("stopped", *final)
    return next((state for state in order if state in states), "waiting")


def _chances(systems: Sequence[SystemResult], deciding: Comparison) -> dict[str, float]:
    """Return the probability of each system to be the best; of those whose sentences are known."""
    metric = deciding.metrics[0]
    known = {
        system.address: resampled
        for system in systems
        if (resampled := system.resampled.get(deciding.test, {}).get(metric)) is not None
    }
    if len(known) < 2:
        return {}
    shares = probability_best([*known.values()], lower_is_better=lower_is_better(metric))
    return {} if shares is None else dict(zip(known, shares.tolist(), strict=True))


def _scored_systems(sweep: Sweep) -> list[SystemResult]:
    """Return the scored configurations, the reference first; none before it has begun."""
    scored, reference = sweep.scored(), sweep.by_address[sweep.reference]
    if not scored[reference.name]:  # no other configuration may take its place
        begun = [trial for trial in reference.trials if run_files.is_described(trial.folder)]
        if not begun:
            return []
        scored[reference.name] = {begun[0].seed: begun[0].folder}
    groups = {name: seeds for name, seeds in scored.items() if seeds}
    return results.load_groups(list(groups.values()), list(groups))
