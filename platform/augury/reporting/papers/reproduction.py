"""The rows of a paper's table: what is printed, what was measured, and why a row was not run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from augury.experiments import runs
from augury.reporting.mean import comparisons, with_mean
from augury.reporting.results import Estimate, SystemResult, load_groups
from augury.reporting.table import MEAN, Row, Table, scored_sets
from augury.sweeping.printed import PrintedRow
from augury.sweeping.published import Published
from augury.sweeping.state import Configuration, Sweep

Status = Literal["measured", "partly measured", "failed", "left out", "not begun", "not run", "computed"]


@dataclass(frozen=True)
class Line:
    """One row of the table; values are by column: a test set, or `mean` over all of them."""

    name: str
    status: Status
    """left out: other rows were asked for; not begun: the command ended before; not run: nothing here stands for it;
    computed: from other rows, as far as they are measured."""
    why: str
    """What must be known of the status; empty where all is measured and nothing is special."""
    configuration: Configuration | None
    printed: PrintedRow | None
    """None where the row is not in print."""
    elsewhere: Mapping[str, float]
    """Where -> a value of the same system."""
    measured: Mapping[str, Row] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    """What was measured, or computed from it."""
    deviations: Mapping[str, float] = field(default_factory=dict)
    """The standard deviation over seeds; none where one seed was measured."""

    @property
    def published(self) -> Mapping[str, float]:
        """What is printed."""
        return self.printed.values if self.printed else {}


@dataclass(frozen=True)
class Reproduction:
    """A paper's table as far as it is measured."""

    table: Published
    sweep: Sweep
    systems: tuple[SystemResult, ...]
    """What is measured, the reference first."""
    tables: Mapping[str, Table]
    """Comparisons with the reference by column; the first one decides."""
    lines: tuple[Line, ...]

    @property
    def tests(self) -> list[str]:
        """The test sets that are measured."""
        return [column for column in self.tables if column != MEAN]

    @property
    def column(self) -> str:
        """The column that decides: the mean over test sets, or the only test set."""
        return next(iter(self.tables), MEAN)

    @property
    def deciding(self) -> Table | None:
        """The comparison that decides; None before anything is scored."""
        return self.tables.get(self.column)

    @property
    def seconds(self) -> float:
        """Of training, of all rows and seeds together."""
        return sum(trial.seconds for each in self.sweep.configurations for trial in each.trials)

    def published(self, line: Line) -> float | None:
        """The value that the paper prints and that decides."""
        return line.published.get(MEAN, line.published.get(self.column))

    def literature(self, line: Line) -> dict[str, float]:
        """Where -> what stands beside the row and does not compare: at another scale the table's own value as well."""
        own = self.published(line)
        beside = {} if self.table.comparable or own is None else {f"{self.table.where}, at the paper's scale": own}
        return {**beside, **line.elsewhere}

    def row(self, line: Line) -> Row | None:
        """The comparison that decides, of one row with the reference."""
        return line.measured.get(self.column)

    def value(self, line: Line) -> float | None:
        """What was measured, or computed, and decides."""
        return line.values.get(self.column)

    def score(self, line: Line) -> Estimate | None:
        """What was measured, with its interval; None where it is computed."""
        row = self.row(line)
        return row.scores.get(self.tables[self.column].metrics[0]) if row else None

    def gap(self, line: Line) -> float | None:
        """Measured minus published, where they compare."""
        value, printed = self.value(line), self.published(line)
        return value - printed if self.table.comparable and value is not None and printed is not None else None

    def within(self, line: Line) -> bool | None:
        """Whether the gap lies within the table's tolerance, which is one of scores."""
        gap = self.gap(line)
        return None if gap is None or line.status == "computed" else abs(gap) <= self.table.tolerance


def reproduction(table: Published, sweep: Sweep) -> Reproduction:
    """The table as things stand in a sweep over its rows, or over some of them."""
    systems = _systems(sweep)
    tests = scored_sets(systems)
    tables = {table.test: table for table in comparisons(systems, tests)}
    systems = with_mean(systems, tests) if MEAN in tables else systems
    known = {system.address: system for system in systems}
    run = {name: _line(table, name, sweep, known, tables) for name in table.rows if name not in table.improvements}
    computed = {name: _improvement(table, name, run) for name in table.improvements}
    return Reproduction(table, sweep, tuple(systems), tables, tuple((run | computed)[name] for name in table.rows))


def _systems(sweep: Sweep) -> list[SystemResult]:
    """What is scored, the reference first, which may have no scores."""
    scored = {
        each.name: {trial.seed: trial.folder for trial in each.trials if trial.folder.exists(runs.SCORES)}
        for each in sweep.configurations
    }
    known = {name: seeds for name, seeds in scored.items() if seeds}
    systems = load_groups(list(known.values()), list(known))
    reference = sweep.by_address[sweep.reference]
    if reference.name in known:
        return systems
    unscored = SystemResult(
        reference.name, reference.address, runs={}, facts={}, tests={}, cost=None, unscored=(), resampled={}
    )
    return [unscored, *systems]


def _line(
    table: Published, name: str, sweep: Sweep, systems: Mapping[str, SystemResult], tables: Mapping[str, Table]
) -> Line:
    same = next((each for each in sweep.merged if each.called == name), None)
    stands = same.same_as if same else name
    configuration = next((each for each in sweep.configurations if each.name == stands), None)
    status, why = _status(table, name, configuration)
    if same:
        why = "; ".join(part for part in (f"runs once, as {same.same_as}: {same.reason}", why) if part)
    system = systems.get(configuration.address) if configuration else None
    measured, deviations = _measured(system, tables) if system else ({}, {})
    return Line(
        name=name,
        status=status,
        why=why,
        configuration=configuration,
        printed=table.printed.rows.get(name),
        elsewhere=table.literature.get(name, {}),
        measured=measured,
        values={
            column: score.value
            for column, row in measured.items()
            if (score := row.scores.get(tables[column].metrics[0]))
        },
        deviations=deviations,
    )


def _improvement(table: Published, name: str, lines: Mapping[str, Line]) -> Line:
    """By how many per cent one row is above another, on every test set and in the mean, as far as both are measured."""
    better, other = (lines[row].values for row in table.improvements[name])
    return Line(
        name=name,
        status="computed",
        why=table.reason(name),
        configuration=None,
        printed=table.printed.rows.get(name),
        elsewhere=table.literature.get(name, {}),
        values={
            column: 100 * (better[column] / value - 1) for column, value in other.items() if value and column in better
        },
    )


def _measured(system: SystemResult, tables: Mapping[str, Table]) -> tuple[dict[str, Row], dict[str, float]]:
    """The rows of a system in all comparisons, and the standard deviations over its seeds."""
    rows = {
        column: row
        for column, table in tables.items()
        for row in table.rows
        if row.address == system.address and row.scores
    }
    drawn = {column: system.resampled.get(column, {}).get(tables[column].metrics[0]) for column in rows}
    deviations = {
        column: float(np.std(each.scores, ddof=1)) for column, each in drawn.items() if each and each.seeds > 1
    }
    return rows, deviations


def _status(table: Published, name: str, configuration: Configuration | None) -> tuple[Status, str]:
    if configuration is None:
        asked = name in table.space.rows
        return ("left out", "other rows were asked for") if asked else ("not run", table.reason(name))
    trials = configuration.trials
    scored = [trial for trial in trials if trial.progress == "finished" and trial.folder.exists(runs.SCORES)]
    failed = "; ".join(
        f"seed {trial.seed} failed: {trial.error or 'unknown'}" for trial in trials if trial.progress == "failed"
    )
    if len(scored) == len(trials):
        return "measured", ""
    later = "the command ended before: give it again"
    if scored:
        return "partly measured", f"{len(scored)} of {len(trials)} seeds; {failed or later}"
    return ("failed", failed) if failed else ("not begun", later)
