"""A sweep in the terminal: a board while it runs, the table at its end, and the same as JSON."""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from augury.core.progress import QUIET_SECONDS, duration
from augury.reporting.comparison import by_test, shared_notes
from augury.reporting.numbers import MISSING, factor
from augury.reporting.sweeps.answer import summary_answer
from augury.reporting.sweeps.locations import locations
from augury.reporting.sweeps.summary import (
    ConfigurationResult,
    Summary,
    leader,
    metric_title,
    ranking,
    rows_by_address,
    summarise,
)
from augury.reporting.tables import Table, aligned, table
from augury.reporting.tables import text as table_text
from augury.sweeping.state import Sweep, Trial

SHOWN = 10
"""Configurations on the board."""


class Board:
    """Redraws one table on a terminal; elsewhere prints a line now and then, and one for each trial that ends."""

    def __init__(self, stream: TextIO):
        self.stream = stream
        self._live: Live | None = None
        self._ended: set[str] | None = None
        self._printed = -QUIET_SECONDS
        self._last = ""

    def show(self, sweep: Sweep) -> None:
        """Show the sweep as it is now; cheap enough for once a second."""
        ranked = ranking(sweep)
        if self.stream.isatty():
            self._redraw(sweep, ranked)
        else:
            self._print(sweep, ranked)

    def close(self) -> None:
        """Leave the last table standing."""
        if self._live:
            self._live.stop()
            self._live = None

    def _redraw(self, sweep: Sweep, ranked: Sequence[ConfigurationResult]) -> None:
        if self._live is None:
            self._live = Live(console=Console(file=self.stream), auto_refresh=False)
            self._live.start()
        lines = [_progress(sweep, ranked), *_running(sweep), "", *aligned(_ranking(sweep, ranked[:SHOWN]).lines())]
        self._live.update(Group(*(Text(line, overflow="ellipsis", no_wrap=True) for line in lines)), refresh=True)

    def _print(self, sweep: Sweep, ranked: Sequence[ConfigurationResult]) -> None:
        ended = {result.address: result for result in ranked if result.state in ("finished", "stopped", "failed")}
        known = ended.keys() if self._ended is None else self._ended  # what an earlier command ended is no news
        for address in ended.keys() - known:
            result = ended[address]
            self._line(f"{result.name}: {result.state_text}, {metric_title(sweep)} {result.score_text}")
        self._ended = set(ended)
        if time.monotonic() - self._printed >= QUIET_SECONDS and (line := _progress(sweep, ranked)) != self._last:
            self._printed, self._last = time.monotonic(), line
            self._line(line)

    def _line(self, line: str) -> None:
        self.stream.write(f"{line}\n")
        self.stream.flush()


def text(sweep: Sweep) -> str:
    """Return the question, all configurations, the answer, and what must be known to believe it."""
    summary = summarise(sweep)
    notes = [*summary.cautions, *shared_notes(summary.comparisons[:1])]
    failures = [
        f"failed: {item.name}, seed {trial.seed}: {trial.error}"
        for item in sweep.configurations
        for trial in item.trials
        if trial.progress == "failed"
    ]
    merged = [f"same as {point.same_as}: {point.called} ({point.reason})" for point in sweep.merged]
    blocks = [
        sweep.question,
        table_text([_table(summary)]).rstrip(),
        summary_answer(summary),
        table_text([by_test(summary.comparisons)]).rstrip() if len(summary.comparisons) > 1 else "",
        "\n".join(dict.fromkeys(notes)),
        "\n".join([*failures, *merged]),
        "\n".join(f"{name:<12}{value}" for name, value in locations(sweep).items()),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def to_dict(sweep: Sweep) -> dict[str, Any]:
    """Return the sweep as JSON-like values."""
    summary = summarise(sweep)
    trials = [trial for item in sweep.configurations for trial in item.trials]
    return {
        "name": sweep.name,
        "question": sweep.question,
        "answer": summary_answer(summary),
        "ended": sweep.ended,
        "metric": sweep.metric,
        "mode": sweep.mode,
        "scale": sweep.scale,
        "scheduler": sweep.scheduler,
        "decided_on": "validation" if sweep.tests == () else "tests",
        "cautions": summary.cautions,
        "seeds": list(sweep.seeds),
        "reference": sweep.reference,
        "best": summary.leader.address if summary.leader else None,
        "table": [_result_dict(summary, result) for result in summary.ranking],
        "merged": [asdict(point) for point in sweep.merged],
        "decisions": [asdict(decision) for decision in sweep.decisions],
        "trials": sum(trial.progress != "waiting" for trial in trials),
        "finished": sweep.count("finished"),
        "failed": sweep.count("failed"),
        "stopped": sweep.count("stopped"),
        "cost": {"train_seconds": sum(trial.seconds for trial in trials if trial.progress != "waiting")},
        "sweep": sweep.folder.uri,
    }


def _result_dict(summary: Summary, result: ConfigurationResult) -> dict[str, Any]:
    tests = {
        comparison.test: {**asdict(row), "mark": row.mark}
        for comparison in summary.comparisons
        if (row := rows_by_address(comparison).get(result.address))
    }
    return {
        **result.configuration.to_dict(),
        "state": result.state,
        "rung": result.rung,
        "seeds": result.finished,
        "validation": {
            "mean": result.mean,
            "sd": result.deviation,
            "low": result.low,
            "high": result.high,
            "values": {str(seed): value for seed, value in result.values.items()},
        },
        "train_seconds": result.seconds,
        "tests": tests,
    }


def _progress(sweep: Sweep, ranked: Sequence[ConfigurationResult]) -> str:
    """Return one line: trials by state, the best so far, the time left."""
    counts: Counter[str] = Counter(trial.progress for item in sweep.configurations for trial in item.trials)
    states = ("finished", "running", "paused", "stopped", "failed", "waiting")
    parts = [f"{counts[state]} {state}" for state in states if counts[state]]
    if best := leader(sweep, ranked):
        parts.append(f"best so far {best.name}: {metric_title(sweep)} {best.score_text}")
    if left := seconds_left(sweep):
        parts.append(f"{'' if sweep.scheduler == 'all' else 'at most '}{duration(left)} left")
    return f"{sweep.name}: {', '.join(parts)}"


def _running(sweep: Sweep) -> list[str]:
    """Return a line for every running trial: its last validation and how long it has trained."""
    running = [(item, trial) for item in sweep.configurations for trial in item.trials if trial.progress == "running"]
    return [f"  {item.name}, seed {trial.seed}: {_last_validation(sweep, trial)}" for item, trial in running]


def _last_validation(sweep: Sweep, trial: Trial) -> str:
    if not trial.curve:
        return "no validation yet"
    point = trial.curve[-1]
    return f"update {point.update:,}, {metric_title(sweep)} {point.value:.2f}, {duration(point.seconds)}"


def seconds_left(sweep: Sweep) -> float | None:
    """Return the training that is left at the pace of the finished trials, shared by as many as run now.

    Trials that a race may still stop count as if they were trained to the end.
    """
    trials = [trial for item in sweep.configurations for trial in item.trials]
    whole = [trial.seconds for trial in trials if trial.progress == "finished"]
    running = sum(trial.progress == "running" for trial in trials)
    if not whole or not running:
        return None
    mean = statistics.fmean(whole)
    missing = [trial for trial in trials if trial.progress in ("waiting", "running", "paused")]
    return sum(max(mean - trial.seconds, 0.0) for trial in missing) / running


def _ranking(sweep: Sweep, ranked: Sequence[ConfigurationResult]) -> Table:
    """Return the validations of the configurations."""
    rows = [[result.name, *_state(sweep, result), result.score_text, _seconds(result)] for result in ranked]
    return table(["configuration", "state", "seeds", metric_title(sweep), "train time"], rows)


def _table(summary: Summary) -> Table:
    """Return validations, scores on the test set or the mean of several, and cost."""
    sweep, deciding = summary.sweep, summary.deciding
    columns = ["configuration", "state", "seeds", summary.metric]
    if deciding:
        score, difference, p_value, *_ = deciding.score_columns()
        columns += [f"{score.partition(' [')[0]} {deciding.test}", difference, p_value]
    rows = []
    for result in summary.ranking:
        row = summary.row(result)
        rows.append(
            [
                f"{result.name} (reference)" if result is summary.reference else result.name,
                *_state(sweep, result),
                result.spread_text,
                *(deciding.score_cells(row)[:3] if deciding else ()),
                _seconds(result),
                factor(row.time_factor if row else None),
            ]
        )
    return table([*columns, "train time", "× reference"], rows, parts=(4, len(columns)))


def _state(sweep: Sweep, result: ConfigurationResult) -> tuple[str, str]:
    return result.state_text, f"{result.finished}/{len(sweep.seeds)}"


def _seconds(result: ConfigurationResult) -> str:
    return MISSING if result.seconds is None else duration(result.seconds)
