"""A sweep in the terminal: a board while it runs, the table at its end, and the same as JSON."""

from __future__ import annotations

import shutil
import statistics
import time
from collections import Counter
from dataclasses import asdict
from typing import Any, TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table as Grid
from rich.text import Text

from augury.core.progress import QUIET_SECONDS, duration
from augury.reporting.overview import by_test
from augury.reporting.sweeps.answer import answered
from augury.reporting.sweeps.places import places
from augury.reporting.sweeps.summary import Standing, Summary, leader, standings, summarise
from augury.reporting.sweeps.wording import measured, reached, spread
from augury.reporting.table import MISSING, Row, Table, difference, factor, interval, probability
from augury.scoring.metrics import title
from augury.sweeping.state import Sweep

SHOWN = 10  # configurations on the board
WIDTH = 200  # of a table where there is no terminal


class Board:
    """Redraws one table on a terminal; elsewhere a line now and then, and one for each configuration that ends."""

    def __init__(self, stream: TextIO):
        self.stream = stream
        self._live: Live | None = None
        self._ended: set[str] | None = None
        self._said = -QUIET_SECONDS

    def show(self, sweep: Sweep) -> None:
        """Show the sweep as it is now; cheap enough for once a second."""
        found = standings(sweep)
        if self.stream.isatty():
            self._redraw(Group(Text(_progress(sweep, found)), _ranking(sweep, found[:SHOWN])))
        else:
            self._print(sweep, found)

    def close(self) -> None:
        """Leave the last table standing."""
        if self._live:
            self._live.stop()
            self._live = None

    def _redraw(self, board: Group) -> None:
        if self._live is None:
            self._live = Live(console=Console(file=self.stream), auto_refresh=False)
            self._live.start()
        self._live.update(board, refresh=True)

    def _print(self, sweep: Sweep, found: tuple[Standing, ...]) -> None:
        ended = {each.address: each for each in found if each.state in ("finished", "stopped", "failed")}
        known = ended.keys() if self._ended is None else self._ended  # what an earlier command ended is no news
        for each in (ended[address] for address in ended.keys() - known):
            self._line(f"{each.name}: {each.stands}, {measured(sweep.metric)} {reached(each)}")
        self._ended = set(ended)
        if time.monotonic() - self._said >= QUIET_SECONDS:
            self._said = time.monotonic()
            self._line(_progress(sweep, found))

    def _line(self, line: str) -> None:
        self.stream.write(f"{line}\n")
        self.stream.flush()


def text(sweep: Sweep) -> str:
    """The question, all configurations, the answer, and what must be known to believe it; fitted to the terminal."""
    summary = summarise(sweep)
    console = Console(width=shutil.get_terminal_size((WIDTH, 50)).columns, color_system=None)
    with console.capture() as drawn:
        console.print(Text(sweep.question), "", _table(summary), "", Text(answered(summary)), sep="\n")
    notes = [*summary.cautions, *(note for table in summary.tables[:1] for note in table.notes)]
    failures = [
        f"failed: {each.name}, seed {trial.seed}: {trial.error}"
        for each in sweep.configurations
        for trial in each.trials
        if trial.progress == "failed"
    ]
    merged = [f"same as {each.same_as}: {each.called} ({each.reason})" for each in sweep.merged]
    where = [f"{name:<12}{value}" for name, value in places(sweep).items()]
    shown = "\n".join(line.rstrip() for line in drawn.get().splitlines())
    tests = ["by test set", *by_test(summary.tables)] if len(summary.tables) > 1 else []
    blocks = [shown, "\n".join(tests), "\n".join(notes), "\n".join([*failures, *merged]), "\n".join(where)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def plain(sweep: Sweep) -> dict[str, Any]:
    """The sweep as JSON-like values."""
    summary = summarise(sweep)
    begun = [trial for each in sweep.configurations for trial in each.trials if trial.progress != "waiting"]
    return {
        "name": sweep.name,
        "question": sweep.question,
        "answer": answered(summary),
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
        "table": [_plain(summary, standing) for standing in summary.standings],
        "merged": [asdict(each) for each in sweep.merged],
        "decisions": [asdict(each) for each in sweep.decisions],
        "trials": len(begun),
        "finished": sweep.count("finished"),
        "failed": sweep.count("failed"),
        "stopped": sweep.count("stopped"),
        "cost": {"train_seconds": sum(trial.seconds for trial in begun)},
        "sweep": sweep.folder.uri,
    }


def _plain(summary: Summary, standing: Standing) -> dict[str, Any]:
    tests = {
        table.test: {**asdict(row), "mark": row.mark}
        for table in summary.tables
        if (row := summary.rows(table).get(standing.address))
    }
    return {
        **standing.configuration.to_dict(),
        "state": standing.state,
        "rung": standing.rung,
        "seeds": standing.finished,
        "validation": {
            "mean": standing.mean,
            "sd": standing.deviation,
            "low": standing.low,
            "high": standing.high,
            "values": {str(seed): value for seed, value in standing.values.items()},
        },
        "train_seconds": standing.seconds,
        "tests": tests,
    }


def _progress(sweep: Sweep, found: tuple[Standing, ...]) -> str:
    """One line: trials by state, the best so far, the time left."""
    counts = Counter(trial.progress for each in sweep.configurations for trial in each.trials)
    parts = [
        f"{counts[state]} {state}"
        for state in ("finished", "running", "paused", "stopped", "failed", "waiting")
        if counts[state]
    ]
    best = leader(sweep, found)
    parts += [f"best so far {best.name}: {measured(sweep.metric)} {reached(best)}"] if best else []
    left = seconds_left(sweep)
    most = "" if sweep.scheduler == "all" else "at most "
    parts += [f"{most}{duration(left)} left"] if left else []
    return f"{sweep.name}: {', '.join(parts)}"


def seconds_left(sweep: Sweep) -> float | None:
    """The training that is left at the pace of the finished trials, shared by as many as run now.

    Trials that a race may still stop count as if they were trained to the end.
    """
    trials = [trial for each in sweep.configurations for trial in each.trials]
    whole = [trial.seconds for trial in trials if trial.progress == "finished"]
    running = sum(trial.progress == "running" for trial in trials)
    if not whole or not running:
        return None
    one = statistics.fmean(whole)
    missing = [trial for trial in trials if trial.progress in ("waiting", "running", "paused")]
    return sum(max(one - trial.seconds, 0.0) for trial in missing) / running


def _ranking(sweep: Sweep, found: tuple[Standing, ...]) -> Grid:
    """What the configurations reached in validation."""
    grid = _grid("configuration", "state", "seeds", measured(sweep.metric), "train time")
    for each in found:
        time_ = MISSING if each.seconds is None else duration(each.seconds)
        grid.add_row(*map(Text, (each.name, each.stands, _seeds(sweep, each), reached(each), time_)))
    return grid


def _table(summary: Summary) -> Grid:
    """What they reached in validation and on the test set, or the mean of several, and at what cost."""
    sweep, tables = summary.sweep, summary.tables[:1]
    tests = [name for table in tables for name in (_column(table), "difference [95 %]", "p")]
    grid = _grid("configuration", "state", "seeds", measured(sweep.metric), *tests, "train time", "× reference")
    for each in summary.standings:
        rows = [summary.rows(table).get(each.address) for table in tables]
        scores = [cell for table, row in zip(tables, rows, strict=True) for cell in _scores(table, row)]
        name = f"{each.name} (reference)" if each.address == sweep.reference else each.name
        cost = MISSING if each.seconds is None else duration(each.seconds)
        times = next((row.time_factor for row in rows if row), None)
        cells = (name, each.stands, _seeds(sweep, each), spread(each), *scores, cost, factor(times))
        grid.add_row(*map(Text, cells))
    return grid


def _column(table: Table) -> str:
    return f"{title(table.metrics[0])} {table.test}"


def _scores(table: Table, row: Row | None) -> tuple[str, str, str]:
    if row is None:
        return MISSING, MISSING, MISSING
    return interval(row.scores.get(table.metrics[0])), difference(row), probability(row)


def _seeds(sweep: Sweep, standing: Standing) -> str:
    return f"{standing.finished}/{len(sweep.seeds)}"


def _grid(*columns: str) -> Grid:
    grid = Grid(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for place, column in enumerate(columns):
        grid.add_column(column, justify="right" if place else "left", overflow="fold")
    return grid
