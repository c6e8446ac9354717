"""Run a sweep with its page kept up to date and with messages: a line of status, and one for every
trial that finishes; those that fail are said where they do.

On a terminal the status is redrawn in place. Elsewhere it is logged where trials have begun or
ended, at most every ten seconds.
"""

from __future__ import annotations

import statistics
import time

from augury.core.messages import say
from augury.core.progress import StatusLine, duration
from augury.experiments.recording import Recording
from augury.reporting.numbers import number
from augury.reporting.report import Report
from augury.reporting.sweeps.report import write
from augury.reporting.sweeps.summary import leader, ranking
from augury.scoring.registry import title
from augury.sweeping import sweep as sweeps
from augury.sweeping.plan import SweepOptions
from augury.sweeping.space import Space
from augury.sweeping.state import ENDS, STATES, Configuration, Sweep, TrialState, best_value
from augury.sweeping.sweep import SweepOutcome

PAGE_SECONDS, REMOTE_SECONDS = 15, 60
"""The time between two pages, on a mounted storage and on others, where they take requests."""
PAGE_SHARE = 0.05
"""The share of the time that writing pages takes at most."""


class Display:
    """Shows a sweep while it runs."""

    def __init__(self, line: StatusLine) -> None:
        self.line = line
        self._finished: set[str] | None = None
        self._said: list[str] = []

    def show(self, sweep: Sweep) -> None:
        """Show the current state of the sweep; cheap enough to call every second."""
        finished = {
            trial.folder.name: _text(sweep, configuration, trial)
            for configuration, trial in sweep.trials
            if trial.progress == "finished"
        }
        if self._finished is not None:  # not those of earlier commands
            for name in sorted(finished.keys() - self._finished):
                say(finished[name])
        self._finished = set(finished)
        states = [trial.progress for _, trial in sweep.trials]
        if self.line.live or (self.line.due and states != self._said):
            ended = sum(state in ENDS for state in states)
            self.line.show(status(sweep), ended / len(sweep.trials))
            self._said = [*states]


def _text(sweep: Sweep, configuration: Configuration, trial: TrialState) -> str:
    """Return what is said of a finished trial: its best validation and time."""
    parts: list[str] = [trial.progress]
    if (best := best_value(trial.curve, sweep.mode)) is not None:
        last = trial.curve[-1]
        value = f"{title(sweep.metric_name)} {number(best, 'fine')}"
        parts += [f"update {number(last.update, 'count')}", value, duration(last.seconds)]
    return f"{configuration.name}, seed {trial.seed}: {', '.join(parts)}"


def status(sweep: Sweep) -> str:
    """Return the line of the sweep: trials by state, the best configuration so far, and the time
    left, or that of the budget where it ends first."""
    left, best, budget = seconds_left(sweep), leader(sweep, ranking(sweep)), sweep.budget_left
    bound = "" if sweep.scheduler == "all" else "at most "
    # The best first, as narrow terminals cut the end of the line.
    parts = []
    if best and best.mean is not None:
        value = f"{title(sweep.metric_name)} {number(best.mean, 'fine')}"
        parts.append(f"best so far {best.name} {value}")
    parts += [f"{count} {state}" for state in STATES if (count := sweep.count(state))]
    if budget is not None:
        parts.append(f"budget: {duration(budget)} left" if budget else "budget spent")
    if left and (budget is None or left < budget):
        parts.append(f"{bound}{duration(left)} left")
    return f"{sweep.name}: {', '.join(parts)}"


def seconds_left(sweep: Sweep) -> float | None:
    """Return the estimated remaining time, or None while no trial has finished or none runs.

    Assumes that every trial takes as long as the finished ones, that as many run at once as now,
    and that the race stops none of them.
    """
    trials = [trial for _, trial in sweep.trials]
    finished = [trial.seconds for trial in trials if trial.progress == "finished"]
    running = sum(trial.progress == "running" for trial in trials)
    if not finished or not running:
        return None
    per_trial = statistics.fmean(finished)
    unfinished = [trial for trial in trials if trial.progress in ("waiting", "running", "stopped")]
    return sum(max(per_trial - trial.seconds, 0.0) for trial in unfinished) / running


def run_sweep(
    space: Space, options: SweepOptions, recording: Recording
) -> tuple[SweepOutcome, Report]:
    """Run the missing trials of a sweep; return its outcome and its report."""
    seconds = REMOTE_SECONDS if "://" in str(options.storage) else PAGE_SECONDS
    due, reports = 0.0, list[Report]()
    with StatusLine(options.name) as line:
        display = Display(line)

        def show(sweep: Sweep, last: bool) -> None:
            nonlocal due
            display.show(sweep)
            if last:
                reports.append(write(sweep, refresh=None))
            elif (start := time.monotonic()) >= due:
                due = start + seconds  # also where it fails
                write(sweep, refresh=seconds)
                due = start + max(seconds, (time.monotonic() - start) / PAGE_SHARE)

        outcome = sweeps.run(space, options, recording, show=show)
    return outcome, reports[-1]
