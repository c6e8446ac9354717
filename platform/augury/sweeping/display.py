"""A sweep on the terminal while it runs: every running trial on a line of its own.

On a terminal one display is redrawn; elsewhere a line is printed when a trial begins, ends or comes to a validation,
the last at most every ten seconds a trial.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from typing import TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from augury.core.progress import QUIET_SECONDS, duration
from augury.sweeping.state import Configuration, Progress, Sweep, Trial

ENDS: tuple[Progress, ...] = ("finished", "stopped", "failed")
BEST = 5
"""Configurations that are shown beside the running trials."""


class Display:
    """Shows a sweep on a stream."""

    def __init__(self, stream: TextIO):
        self.stream = stream
        self._live: Live | None = None
        self._known: dict[str, tuple[str, int]] | None = None
        """Of every trial: the state, and the number of validations that were printed last."""
        self._printed: dict[str, float] = {}
        self._last_line = ""

    def show(self, sweep: Sweep, last: bool = False) -> None:
        """Show the sweep as it is now; cheap enough for once a second."""
        if self.stream.isatty():
            self._redraw(sweep)
        else:
            self._print(sweep, last)

    def close(self) -> None:
        """Leave what was shown last."""
        if self._live:
            self._live.stop()
            self._live = None

    def _redraw(self, sweep: Sweep) -> None:
        if self._live is None:
            self._live = Live(console=Console(file=self.stream), auto_refresh=False)
            self._live.start()
        trials = Table(box=None, pad_edge=False, show_header=False)
        for configuration, trial in _trials(sweep):
            if trial.progress == "running":
                cells = (configuration.name, f"seed {trial.seed}", *_reached(sweep, trial))
                trials.add_row(*map(Text, cells))
        best = Table(box=None, pad_edge=False, title="best so far", title_justify="left", show_header=False)
        for configuration, value in leaders(sweep)[:BEST]:
            finished = sum(trial.progress == "finished" for trial in configuration.trials)
            seeds = f"{finished} of {len(configuration.trials)} seeds finished"
            best.add_row(*map(Text, (configuration.name, f"{sweep.metric} {value:.2f}", seeds)))
        self._live.update(Group(Text(summary(sweep)), trials, *([best] if best.row_count else [])), refresh=True)

    def _print(self, sweep: Sweep, last: bool) -> None:
        first, self._known = self._known is None, self._known or {}
        for configuration, trial in _trials(sweep):
            state = (trial.progress, len(trial.curve))
            known = self._known.get(trial.folder.name, ("waiting", 0))
            if state == known or trial.progress in ("waiting", "paused"):
                continue
            if trial.progress == "running" and known[0] == "running" and not self._due(trial):
                continue
            self._known[trial.folder.name] = state
            if first and trial.progress in ENDS:  # an earlier command has said so
                continue
            self._printed[trial.folder.name] = time.monotonic()
            parts = [trial.progress, *_reached(sweep, trial), *([trial.error] if trial.error else [])]
            self._line(f"{configuration.name}, seed {trial.seed}: {', '.join(parts)}")
            if trial.progress in ENDS:
                self._line(summary(sweep))
        if first or last:
            self._line(summary(sweep))

    def _due(self, trial: Trial) -> bool:
        return time.monotonic() - self._printed.get(trial.folder.name, -QUIET_SECONDS) >= QUIET_SECONDS

    def _line(self, line: str) -> None:
        if line != self._last_line:
            self._last_line = line
            self.stream.write(f"{line}\n")
            self.stream.flush()


def summary(sweep: Sweep) -> str:
    """Return one line: trials by state, the best configuration so far, the time left."""
    counts = Counter(trial.progress for _, trial in _trials(sweep))
    states: tuple[Progress, ...] = ("finished", "running", "paused", "stopped", "failed", "waiting")
    parts = [f"{counts[state]} {state}" for state in states if counts[state]]
    parts += [f"best so far {best.name}: {sweep.metric} {value:.2f}" for best, value in leaders(sweep)[:1]]
    left = seconds_left(sweep)
    most = "" if sweep.scheduler == "all" else "at most "
    parts += [f"{most}{duration(left)} left"] if left else []
    return f"{sweep.name}: {', '.join(parts)}"


def leaders(sweep: Sweep) -> list[tuple[Configuration, float]]:
    """Return the configurations that were not stopped, with the mean of their seeds' best validations, best first."""
    means = []
    for configuration in sweep.configurations:
        going = [trial for trial in configuration.trials if trial.progress not in ("stopped", "failed")]
        values = [value for trial in going if (value := sweep.best(trial)) is not None]
        if values:
            means.append((configuration, statistics.fmean(values)))
    return sorted(means, key=lambda pair: pair[1], reverse=sweep.mode == "max")


def seconds_left(sweep: Sweep) -> float | None:
    """Return the training that is left at the pace of the finished trials, shared by as many as run now.

    Trials that a race may still stop count as if they were trained to the end.
    """
    trials = [trial for _, trial in _trials(sweep)]
    finished = [trial.seconds for trial in trials if trial.progress == "finished"]
    running = sum(trial.progress == "running" for trial in trials)
    if not finished or not running:
        return None
    whole = statistics.fmean(finished)
    missing = [trial for trial in trials if trial.progress in ("waiting", "running", "paused")]
    return sum(max(whole - trial.seconds, 0.0) for trial in missing) / running


def _trials(sweep: Sweep) -> list[tuple[Configuration, Trial]]:
    return [(configuration, trial) for configuration in sweep.configurations for trial in configuration.trials]


def _reached(sweep: Sweep, trial: Trial) -> list[str]:
    """Return how far a trial has got, for people."""
    if not trial.curve:
        return []
    point = trial.curve[-1]
    return [
        f"update {point.update:,}",
        f"{sweep.metric} {point.value:.2f} (validation {point.validation})",
        duration(point.seconds),
    ]
