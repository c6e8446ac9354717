"""A sweep as it goes on, in messages: every running trial on a line of its own, and one for them all.

On a terminal the lines are redrawn in place. Elsewhere one is printed when a trial begins or ends, and when it has come
to a further validation, at most every ten seconds a trial.
"""

from __future__ import annotations

import statistics
from collections import Counter
from contextlib import ExitStack

from augury.core.messages import say
from augury.core.progress import Line, duration
from augury.sweeping.state import Configuration, Progress, Sweep, Trial

ENDS: tuple[Progress, ...] = ("finished", "stopped", "failed")


class Display:
    """Shows a sweep while it runs."""

    def __init__(self) -> None:
        self._lines: dict[str, tuple[Line, ExitStack]] = {}
        self._texts: dict[str, str] = {}
        """Of every line, what it shows."""
        self._ended: set[str] | None = None

    def show(self, sweep: Sweep) -> None:
        """Show the sweep as it is now; cheap enough for once a second."""
        trials = {trial.folder.name: (configuration, trial) for configuration, trial in sweep.trials}
        ended = {name for name, (_, trial) in trials.items() if trial.progress in ENDS}
        news = sorted(ended - (ended if self._ended is None else self._ended))  # an earlier command's are no news
        self._ended = ended
        for name in news:
            say(_text(sweep, *trials[name]))
        running = {name for name, (_, trial) in trials.items() if trial.progress == "running"}
        for name in self._lines.keys() - running - {sweep.name}:
            self._close(name)
        for name in sorted(running):
            self._update(name, _text(sweep, *trials[name]))
        self._update(sweep.name, summary(sweep), now=bool(news))

    def close(self) -> None:
        """Take the lines away."""
        for name in list(self._lines):
            self._close(name)

    def _update(self, name: str, text: str, now: bool = False) -> None:
        """Show a line's text if it has changed and can be seen, or log it `now`."""
        if name not in self._lines:
            block, line = ExitStack(), Line(text)
            block.enter_context(line)
            self._lines[name], now = (line, block), True
        line, _ = self._lines[name]
        if text != self._texts.get(name) and (now or line.due):
            self._texts[name] = text
            if now and not line.redrawn:
                say(text)
            else:
                line.show(text)

    def _close(self, name: str) -> None:
        _, block = self._lines.pop(name)
        block.close()


def _text(sweep: Sweep, configuration: Configuration, trial: Trial) -> str:
    """Return how far a trial is, for people."""
    parts = [trial.progress, *_reached(sweep, trial), *([trial.error] if trial.error else [])]
    return f"{configuration.name}, seed {trial.seed}: {', '.join(parts)}"


def summary(sweep: Sweep) -> str:
    """Return one line: trials by state, the best configuration so far, the time left."""
    counts = Counter(trial.progress for _, trial in sweep.trials)
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
    trials = [trial for _, trial in sweep.trials]
    finished = [trial.seconds for trial in trials if trial.progress == "finished"]
    running = sum(trial.progress == "running" for trial in trials)
    if not finished or not running:
        return None
    whole = statistics.fmean(finished)
    missing = [trial for trial in trials if trial.progress in ("waiting", "running", "paused")]
    return sum(max(whole - trial.seconds, 0.0) for trial in missing) / running


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
