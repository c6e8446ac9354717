"""Run a sweep with its page kept up to date and with messages: one line per running trial and one
for the sweep.

On a terminal the latest of them is shown in place. Elsewhere a line is logged when a trial starts
or ends and after validations, at most every ten seconds per trial.
"""

from __future__ import annotations

import statistics
from contextlib import ExitStack, closing

from augury.core.messages import say
from augury.core.periodic import Throttle
from augury.core.progress import StatusLine, duration
from augury.experiments.recording import Recording
from augury.reporting.report import Report
from augury.reporting.sweeps.report import write
from augury.reporting.sweeps.summary import ConfigurationResult, ranking
from augury.reporting.sweeps.summary import leader as leading
from augury.sweeping import sweep as sweeps
from augury.sweeping.plan import SweepOptions
from augury.sweeping.space import Space
from augury.sweeping.state import ENDS, STATES, Configuration, Sweep, Trial
from augury.sweeping.sweep import Outcome

PAGE_SECONDS, REMOTE_SECONDS = 15, 60
"""The time between two pages, on a mounted storage and on others, where they take requests."""


class Display:
    """Shows a sweep while it runs."""

    def __init__(self) -> None:
        self._lines: dict[str, tuple[StatusLine, ExitStack]] = {}
        self._texts: dict[str, str] = {}
        """The text shown on every line."""
        self._ended: set[str] | None = None

    def show(self, sweep: Sweep) -> None:
        """Show the current state of the sweep; cheap enough to call every second."""
        trials = {
            trial.folder.name: (configuration, trial) for configuration, trial in sweep.trials
        }
        ended = {name for name, (_, trial) in trials.items() if trial.progress in ENDS}
        # Not those of earlier commands.
        newly_ended = sorted(ended - (ended if self._ended is None else self._ended))
        self._ended = ended
        for name in newly_ended:
            say(_text(sweep, *trials[name]))
        running = {name for name, (_, trial) in trials.items() if trial.progress == "running"}
        for name in self._lines.keys() - running - {sweep.name}:
            self._close(name)
        for name in sorted(running):
            self._update(name, _text(sweep, *trials[name]))
        share = len(ended) / len(trials) if trials else None
        self._update(sweep.name, summary(sweep), share, now=bool(newly_ended))

    def close(self) -> None:
        """Remove all lines."""
        for name in list(self._lines):
            self._close(name)

    def _update(self, name: str, text: str, share: float | None = None, now: bool = False) -> None:
        """Show a line's text if it has changed and the line is due, or in any case if `now`."""
        if name not in self._lines:
            block, line = ExitStack(), StatusLine(text)
            block.enter_context(line)
            self._lines[name], now = (line, block), True
        line, _ = self._lines[name]
        if text != self._texts.get(name) and (now or line.due):
            self._texts[name] = text
            if now and not line.live:
                say(text)
            else:
                line.show(text, share)

    def _close(self, name: str) -> None:
        _, block = self._lines.pop(name)
        block.close()


def _text(sweep: Sweep, configuration: Configuration, trial: Trial) -> str:
    """Return the line of a trial: its state, last validation and error."""
    parts = [
        trial.progress,
        *_last_validation(sweep, trial),
        *([trial.error] if trial.error else []),
    ]
    return f"{configuration.name}, seed {trial.seed}: {', '.join(parts)}"


def summary(sweep: Sweep) -> str:
    """Return the line of the sweep: trials by state, the best configuration so far, the time
    left, that of the budget where it ends first."""
    left, best, budget = seconds_left(sweep), leader(sweep), sweep.budget_left
    bound = "" if sweep.scheduler == "all" else "at most "
    # The best first, as narrow terminals cut the end of the line.
    parts = [f"best so far {best.name} {best.mean:.2f}"] if best and best.mean is not None else []
    parts += [f"{count} {state}" for state in STATES if (count := sweep.count(state))]
    if budget is not None:
        parts.append(f"budget: {duration(budget)} left" if budget else "budget spent")
    if left and (budget is None or left < budget):
        parts.append(f"{bound}{duration(left)} left")
    return f"{sweep.name}: {', '.join(parts)}"


def leader(sweep: Sweep) -> ConfigurationResult | None:
    """Return the best configuration so far; None where configurations differ in their corpora:
    their validations may be on different texts."""
    points = [configuration.point for configuration in sweep.configurations]
    if any(key.startswith("corpus") for point in points for key in point):
        return None
    return leading(sweep, ranking(sweep))


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


def _last_validation(sweep: Sweep, trial: Trial) -> list[str]:
    if not trial.curve:
        return []
    point = trial.curve[-1]
    return [
        f"update {point.update:,}",
        f"{sweep.metric} {point.value:.2f} (validation {point.validation})",
        duration(point.seconds),
    ]


def run_sweep(space: Space, options: SweepOptions, recording: Recording) -> tuple[Outcome, Report]:
    """Run the missing trials of a sweep; return its outcome and its report."""
    seconds = REMOTE_SECONDS if "://" in str(options.storage) else PAGE_SECONDS
    throttle = Throttle(seconds)
    reports: list[Report] = []
    with closing(Display()) as display:

        def show(sweep: Sweep, last: bool) -> None:
            display.show(sweep)
            if last:
                reports.append(write(sweep, refresh=None))
            else:
                throttle.run(lambda: write(sweep, refresh=seconds))

        outcome = sweeps.run(space, options, recording, show=show)
    return outcome, reports[-1]
