"""The numbers of a sweep: what its configurations have reached in validation and on the test sets, best first."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from augury.experiments import runs
from augury.reporting import results
from augury.reporting.mean import comparisons
from augury.reporting.table import Row, Table, scored_sets
from augury.sweeping.race import CONFIDENCE, half_widths
from augury.sweeping.state import Configuration, Decision, Progress, Sweep, Trial

# The trials that speak for a configuration are those that got furthest; a failed one never does.
RANKS: tuple[tuple[Progress, ...], ...] = (("finished",), ("paused", "stopped"), ("running",))


@dataclass(frozen=True)
class Standing:
    """What a configuration has reached in validation."""

    configuration: Configuration
    state: Progress
    """stopped: the race ended it; failed: no seed is left to finish."""
    rung: int | None
    """At which it was stopped."""
    values: Mapping[int, float]
    """Seed -> the best validation so far, of the seeds that got furthest."""
    settled: bool
    """Whether those seeds have ended or wait for a decision."""
    mean: float | None
    deviation: float | None
    """The standard deviation over seeds."""
    seconds: float | None
    """Of training, the mean over the seeds in `values`."""
    low: float | None = None
    high: float | None = None
    """The 95 % interval of the mean over seeds; None for what was stopped or runs, and while no two seeds tell how much
    they differ."""

    @property
    def name(self) -> str:
        """The swept values, for people."""
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
    def stands(self) -> str:
        """The state for people."""
        return f"{self.state} at rung {self.rung}" if self.rung else self.state


@dataclass(frozen=True)
class Summary:
    """A sweep in numbers."""

    sweep: Sweep
    standings: tuple[Standing, ...]
    """By the validation metric, best first; then the stopped ones, then those without a validation."""
    leader: Standing | None
    """The configuration that the race chose, or the best so far."""
    tables: tuple[Table, ...]
    """The scored configurations on every test set, and on the mean of several before all; the reference first where it
    is scored."""

    @property
    def cautions(self) -> list[str]:
        """What must be known to believe the answer."""
        return [runs.NO_TESTS] if self.sweep.tests == () else []

    @property
    def reference(self) -> Standing:
        """The configuration that the others are compared with."""
        return next(each for each in self.standings if each.address == self.sweep.reference)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Those of the race on configurations that are still asked for."""
        known = self.sweep.by_address
        return tuple(each for each in self.sweep.decisions if each.address in known)

    def rows(self, table: Table) -> dict[str, Row]:
        """The rows of one of the tables by address."""
        return {row.address: row for row in table.rows}


def summarise(sweep: Sweep) -> Summary:
    """Everything that is said of a sweep in numbers, read from its curves and its scored runs."""
    found = standings(sweep)
    return Summary(sweep, found, leader(sweep, found), _tables(sweep))


def standings(sweep: Sweep) -> tuple[Standing, ...]:
    """The configurations by what they reached in validation, best first; reads no scores.

    The interval of a mean is that of the race: Student's, with the deviation of seeds pooled over the configurations
    that have not been stopped.
    """
    found = [_standing(sweep, each) for each in sweep.configurations]
    halves = half_widths(
        {each.address: list(each.values.values()) for each in found if each.settled and each.state != "stopped"},
        CONFIDENCE,
    )
    found = [_with_interval(each, halves[each.address]) if each.address in halves else each for each in found]
    sign = 1 if sweep.mode == "min" else -1
    return tuple(
        sorted(
            found,
            key=lambda each: (
                each.mean is None,
                each.state == "stopped",
                0.0 if each.mean is None else sign * each.mean,
            ),
        )
    )


def leader(sweep: Sweep, found: Sequence[Standing]) -> Standing | None:
    """The configuration that the race chose, or the best so far of those that were not stopped."""
    known = {each.address: each for each in found}
    chosen = [known[each.address] for each in sweep.decisions if each.action == "chosen" and each.address in known]
    if chosen:
        return chosen[-1]
    racing = [each for each in found if each.mean is not None and each.state != "stopped"]
    return next((each for each in racing if each.finished or not sweep.ended), None)


def best(sweep: Sweep, trial: Trial) -> float | None:
    """The best validation of a trial so far."""
    values = [point.value for point in trial.curve if math.isfinite(point.value)]
    return (max if sweep.mode == "max" else min)(values, default=None)


def _standing(sweep: Sweep, configuration: Configuration) -> Standing:
    """A configuration on its own, without an interval."""
    speaking = next((some for rank in RANKS if (some := _with_values(sweep, configuration, rank))), {})
    values = list(speaking.values())
    state = _state(sweep, configuration)
    stopped = [
        each.rung for each in sweep.decisions if (each.address, each.action) == (configuration.address, "stopped")
    ]
    return Standing(
        configuration,
        state,
        rung=stopped[-1] if stopped and state == "stopped" else None,
        values={trial.seed: value for trial, value in speaking.items()},
        settled=bool(values) and all(trial.progress != "running" for trial in speaking),
        mean=statistics.fmean(values) if values else None,
        deviation=statistics.stdev(values) if len(values) > 1 else None,
        seconds=statistics.fmean(trial.seconds for trial in speaking) if values else None,
    )


def _with_values(sweep: Sweep, configuration: Configuration, rank: Sequence[Progress]) -> dict[Trial, float]:
    """The trials of these states that have been validated, with the best value of each."""
    return {
        each: value
        for each in configuration.trials
        if each.progress in rank and (value := best(sweep, each)) is not None
    }


def _with_interval(standing: Standing, half: float) -> Standing:
    assert standing.mean is not None
    return replace(standing, low=standing.mean - half, high=standing.mean + half)


def _state(sweep: Sweep, configuration: Configuration) -> Progress:
    have = {trial.progress for trial in configuration.trials}
    if "running" in have:
        return "running"
    if "finished" in have and (sweep.ended or sweep.scheduler != "all" or not have & {"waiting", "paused"}):
        return "finished"
    if "failed" in have and sweep.scheduler != "all":
        have.discard("waiting")  # a race goes on without a configuration that failed
    order: tuple[Progress, ...] = (
        ("stopped", "paused", "waiting") if not sweep.ended else ("stopped", "paused", "failed")
    )
    return next((state for state in order if state in have), "failed" if "failed" in have else "waiting")


def _tables(sweep: Sweep) -> tuple[Table, ...]:
    """The comparisons of what is scored; none before the reference has begun, against which they are made."""
    scored = sweep.finished()
    reference = [trial.folder for trial in sweep.by_address[sweep.reference].trials]
    if not any(folder in scored for folder in reference):  # nothing else may be taken for it
        scored = [folder for folder in reference if folder.exists(runs.DESCRIPTION)][:1] + scored
    systems = [replace(system, name=sweep.by_address[system.address].name) for system in results.load(scored)]
    if not systems or systems[0].address != sweep.reference:
        return ()
    return tuple(comparisons(systems, scored_sets(systems)))
