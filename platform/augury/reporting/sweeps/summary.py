"""A sweep in numbers: the scores of its configurations in validation and on the test sets, the test
of the winner with fresh seeds, and what is recommended.

Validation chooses. The best of many trainings is mostly one that was lucky, on other text, too:
tested on the trainings that chose it, a system that helps nothing is said to help in 5 to 13 % of
sweeps (`benchmarks/race.py`), where 2.5 % are promised. The reference and the winner are therefore
trained with fresh seeds, and tested on those alone.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from augury.core.naming import counted
from augury.core.progress import duration
from augury.core.store import Folder, Store
from augury.experiments import record, stored_runs
from augury.experiments.graph import VALID
from augury.reporting import results
from augury.reporting.comparison import (
    ComparedSystem,
    Comparison,
    compare_all,
    scored_sets,
    warnings_of,
)
from augury.reporting.notes import not_beaten
from augury.reporting.numbers import MISSING, adapted, interval
from augury.reporting.results import SystemResult
from augury.scoring.registry import title
from augury.sweeping.schedulers import Confirmation, fresh_seeds, half_widths
from augury.sweeping.state import Configuration, Sweep, TrialProgress, TrialState

LEAST = 2
"""Seeds of both systems that a confirmation has, where a budget or failures end it early."""
SHOWN = 0.05
"""Half the last digit that scores are printed with: a smaller gain is none."""
ORDER: tuple[TrialProgress, ...] = ("running", "finished", "stopped", "failed", "waiting")
"""The state of a configuration is the first of these that one of its seeds is in."""


@dataclass(frozen=True)
class ConfigurationResult:
    """A configuration with its score in validation."""

    configuration: Configuration
    state: TrialProgress
    """stopped: its budget or Ctrl-C ended it; failed: no seed is left to finish."""
    values: Mapping[int, float]
    """Seed -> the best validation so far: of the finished seeds or, before, of those that have
    begun."""
    mean: float | None
    seconds: float | None
    """The training time by validations, of the last stage, as mean over the seeds in `values`."""
    half: float | None = None
    """Half the 95 % interval of the mean over seeds; None until two seeds show the deviation."""

    @property
    def interval(self) -> tuple[float, float] | tuple[None, None]:
        """The ends of the interval, where it is known."""
        if self.mean is None or self.half is None:
            return None, None
        return self.mean - self.half, self.mean + self.half

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
    def text(self) -> str:
        """The mean with its interval: `31.2 [30.8, 31.6]`."""
        if self.mean is None:
            return MISSING
        low, high = self.interval
        return interval(self.mean, low, high, adapted(self.mean))

    @property
    def score_text(self) -> str:
        """The same with its seeds: `31.2 [30.8, 31.6] (3 seeds)`, or `31.2 (not trained to the
        end)` where no seed is finished."""
        trained = counted(len(self.values), "seed") if self.finished else "not trained to the end"
        return f"{self.text} ({trained})"


@dataclass(frozen=True)
class Decided:
    """The leader's score and the reference's, by which one of them is recommended: on the test
    sets, with fresh seeds where it is confirmed, and in validation before there are such scores."""

    metric: str
    leader: float
    reference: float
    better: bool
    """Whether the leader's is better."""
    sure: bool
    """Whether fresh seeds have shown that this is no chance."""


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
    systems: tuple[SystemResult, ...] = ()
    """What is compared: the scored configurations, the reference first."""
    confirmed: tuple[Comparison, ...] = ()
    """The reference and the leader with fresh seeds alone, on the mean of several test sets and on
    every one; empty before the leader is confirmed."""

    @property
    def metric(self) -> str:
        """The metric that configurations are ranked by: `validation BLEU` for `valid/bleu`."""
        return f"validation {title(self.sweep.metric_name)}"

    @property
    def deciding(self) -> Comparison | None:
        """The comparison on the test set, or on the mean of several."""
        return self.comparisons[0] if self.comparisons else None

    @property
    def tested(self) -> Comparison | None:
        """The comparison that the answer is of: with fresh seeds where the leader is confirmed."""
        return self.confirmed[0] if self.confirmed else self.deciding

    @property
    def reference(self) -> ConfigurationResult:
        """The configuration that the others are compared with."""
        return next(result for result in self.ranking if result.address == self.sweep.reference)

    @property
    def warnings(self) -> list[str]:
        """Warnings that belong to the answer."""
        untested = [stored_runs.NO_TESTS] if self.sweep.tests == () else []
        return [*untested, *warnings_of(self.comparisons)]

    @property
    def failures(self) -> dict[str, TrialState]:
        """The trials that failed, by configuration and seed, for people."""
        return {
            f"{configuration.name}, seed {trial.seed}": trial
            for configuration, trial in self.sweep.trials
            if trial.progress == "failed"
        }

    def row(self, result: ConfigurationResult) -> ComparedSystem | None:
        """Return the deciding comparison of a configuration; None where it is not scored."""
        return self.deciding.row(result.address) if self.deciding else None

    def seconds(self, result: ConfigurationResult) -> float | None:
        """Return the training time of a seed of a configuration: once it is scored with that of
        earlier stages and operators' models, before by its validations."""
        row = self.row(result)
        return row.cost.train_seconds if row and row.cost else result.seconds

    @property
    def learnt(self) -> bool:
        """Whether the leader and the reference may have learnt something: on the test sets or,
        where there are none, in validation."""
        best = self.leader
        row = self.tested.row(best.address) if self.tested and best else None
        if row or best is None or best.mean is None or self.sweep.tests != ():
            return not (row and row.meaningless)
        runs = {trial.seed: trial.folder for trial in best.configuration.trials if trial.curve}
        (system,) = results.load_groups([runs], [best.name], self.sweep.metrics, ())
        return not_beaten(system, VALID, self.sweep.metric_name, best.mean) is None

    @property
    def decided(self) -> Decided | None:
        """How much better the leader is than the reference; None where either has no score."""
        best, table = self.leader, self.tested
        row = table.row(best.address) if table and best else None
        if table and row and (gain := table.gain(row)) is not None:
            metric = table.metrics[0]
            own, of_reference = row.scores[metric].value, table.rows[0].scores[metric].value
            sure = bool(self.confirmed and row.mark)
            return Decided(title(metric), own, of_reference, gain > SHOWN, sure)
        if best is None or best.mean is None or self.reference.mean is None:
            return None
        gain = best.mean - self.reference.mean
        better = gain > 0 if self.sweep.mode == "max" else gain < 0
        return Decided(self.metric, best.mean, self.reference.mean, better, sure=False)


def summarise(sweep: Sweep) -> Summary:
    """Summarise a sweep from its curves and its scored runs."""
    ranked = ranking(sweep)
    systems = _scored_systems(sweep)
    ahead = leader(sweep, ranked)
    comparisons = tuple(compare_all(systems, scored_sets(systems)))
    tested = _confirmed(sweep, ahead.address) if ahead else ()
    return Summary(sweep, ranked, ahead, comparisons, tuple(systems), tested)


def ranking(sweep: Sweep) -> tuple[ConfigurationResult, ...]:
    """Return the configurations sorted by their validations, best first, then those that have not
    finished; test scores are not read.

    The interval of a mean is Student's, with the deviation of seeds pooled over the configurations
    that have finished.
    """
    results = [_result(sweep, configuration) for configuration in sweep.configurations]
    finished = [result for result in results if result.finished and result.values]
    halves = half_widths({result.address: [*result.values.values()] for result in finished})
    results = [replace(result, half=halves.get(result.address)) for result in results]
    sign = 1 if sweep.mode == "min" else -1

    def place(result: ConfigurationResult) -> tuple[bool, bool, float]:
        mean = result.mean
        return mean is None, result.state == "stopped", 0.0 if mean is None else sign * mean

    return tuple(sorted(results, key=place))


def leader(sweep: Sweep, ranked: Sequence[ConfigurationResult]) -> ConfigurationResult | None:
    """Return the configuration that the scheduler chose, or the best of those that were not stopped
    and have a finished seed; before one has, while the sweep runs, the best so far."""
    if sweep.chosen:
        return next(result for result in ranked if result.address == sweep.chosen)
    racing = [result for result in ranked if result.mean is not None and result.state != "stopped"]
    finished = [result for result in racing if result.finished]
    return next(iter(finished or ([] if sweep.ended else racing)), None)


def recommended(summary: Summary) -> ConfigurationResult | None:
    """Return the leader where its score is better by what decides, else the reference, which is the
    simplest system; None where nothing is said to have learnt and, while the sweep runs, before the
    reference and another have finished."""
    reference, best = summary.reference, summary.leader
    finished = [result for result in summary.ranking if result.finished]
    compared = reference in finished and len(finished) > 1
    if best is None or not (summary.sweep.ended or compared) or not summary.learnt:
        return None
    decided = summary.decided
    return best if decided is None or decided.better else reference


def price_of_confirming(summary: Summary, winner: ConfigurationResult) -> str:
    """Return what confirming a winner still takes: `6 trainings, about 5 min of training`."""
    sweep, known = summary.sweep, summary.sweep.confirmation
    if known is None or known.winner != winner.address:
        known = Confirmation(sweep.reference, winner.address, fresh_seeds(sweep.seeds))
    runs = confirmation_runs(sweep, known)
    missing = [trial for trial in known.trials if trial.seed not in runs[trial.configuration]]
    seconds = {result.address: summary.seconds(result) or 0.0 for result in summary.ranking}
    spent = sum(seconds[trial.configuration] for trial in missing)
    time = f", about {duration(spent)} of training" if spent else ""
    return f"{counted(len(missing), 'training')}{time}"


def confirmation_runs(sweep: Sweep, confirmation: Confirmation) -> dict[str, dict[int, Folder]]:
    """Return the scored runs of a confirmation by address and seed."""
    store = Store(sweep.folder.root)
    runs: dict[str, dict[int, Folder]] = {confirmation.reference: {}, confirmation.winner: {}}
    for address, seed in confirmation.trials:
        folder = record.run_folder(store, address, seed)
        if folder.exists(record.SCORES):
            runs[address][seed] = folder
    return runs


def _confirmed(sweep: Sweep, winner: str) -> tuple[Comparison, ...]:
    """Return the test of a winner; empty before all of its fresh seeds are scored or, where the
    sweep has ended, two of both, or the only one that was asked for."""
    known = sweep.confirmation
    if known is None or known.winner != winner:
        return ()
    runs = confirmation_runs(sweep, known)
    asked = len(known.seeds)
    least = min(LEAST, asked) if sweep.ended else asked
    if min(map(len, runs.values())) < least:
        return ()
    names = [sweep.by_address[address].name for address in runs]
    systems = results.load_groups([*runs.values()], names, sweep.metrics, sweep.tests)
    return tuple(compare_all(systems, scored_sets(systems)))


def _result(sweep: Sweep, configuration: Configuration) -> ConfigurationResult:
    """Return a configuration on its own, without an interval."""
    furthest = sweep.furthest(configuration)
    values = list(furthest.values())
    states = {trial.progress for trial in configuration.trials}
    return ConfigurationResult(
        configuration,
        next(state for state in ORDER if state in states),
        values={trial.seed: value for trial, value in furthest.items()},
        mean=statistics.fmean(values) if values else None,
        seconds=statistics.fmean(trial.seconds for trial in furthest) if values else None,
    )


def _scored_systems(sweep: Sweep) -> list[SystemResult]:
    """Return the scored configurations, the reference first; none before it has begun."""
    scored, reference = sweep.scored(), sweep.by_address[sweep.reference]
    if not scored[reference.name]:  # no other configuration may take its place
        begun = [trial for trial in reference.trials if trial.folder.exists(record.DESCRIPTION)]
        if not begun:
            return []
        scored[reference.name] = {begun[0].seed: begun[0].folder}
    groups = {name: seeds for name, seeds in scored.items() if seeds}
    return results.load_groups([*groups.values()], [*groups], sweep.metrics, sweep.tests)
