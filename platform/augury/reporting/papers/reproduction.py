"""The rows of a paper's table: what is printed, what was measured, and why a row was not run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from augury.core.store import Folder
from augury.reporting import run_files
from augury.reporting.comparison import MEAN, Comparison, Row, scored_sets
from augury.reporting.mean import compare_all, with_mean
from augury.reporting.papers.measuring import measured
from augury.reporting.results import Estimate, SystemResult, load_groups
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
    """The reason of the status; empty where all is measured and nothing is special."""
    configuration: Configuration | None
    printed: PrintedRow | None
    """None where the row is not in print."""
    elsewhere: Mapping[str, float]
    """Where -> a value of the same system."""
    measured: Mapping[str, Row] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    """Measured values, or those computed from them."""
    deviations: Mapping[str, float] = field(default_factory=dict)
    """The standard deviation over seeds; none where one seed was measured."""

    @property
    def published(self) -> Mapping[str, float]:
        """The printed values."""
        return self.printed.values if self.printed else {}


@dataclass(frozen=True)
class Reproduction:
    """A paper's table as far as it is measured."""

    table: Published
    sweep: Sweep
    systems: tuple[SystemResult, ...]
    """Those that are measured, the reference first."""
    comparisons: Mapping[str, Comparison]
    """Comparisons with the reference by column; the first one decides."""
    lines: tuple[Line, ...]

    @property
    def tests(self) -> list[str]:
        """The test sets that are measured."""
        return [column for column in self.comparisons if column != MEAN]

    @property
    def column(self) -> str:
        """The column that decides: the mean over test sets, or the only test set."""
        return next(iter(self.comparisons), MEAN)

    @property
    def columns(self) -> list[str]:
        """The columns of which anything is printed or measured, the mean over test sets last."""
        known = dict.fromkeys(self.tests)
        for line in self.lines:
            known |= dict.fromkeys([*line.values, *line.published])
        return [column for column in known if column != MEAN] + [MEAN] * (MEAN in known)

    @property
    def deciding(self) -> Comparison | None:
        """The comparison that decides; None before anything is scored."""
        return self.comparisons.get(self.column)

    @property
    def seconds(self) -> float:
        """Of training, of all rows and seeds together."""
        return sum(trial.seconds for item in self.sweep.configurations for trial in item.trials)

    def published(self, line: Line) -> float | None:
        """Return the value that the paper prints and that decides."""
        return line.published.get(MEAN, line.published.get(self.column))

    def literature(self, line: Line) -> dict[str, float]:
        """Return where -> a value that does not compare; at another scale the table's own is one of them."""
        own = self.published(line)
        printed = {} if self.table.comparable or own is None else {f"{self.table.where}, at the paper's scale": own}
        return {**printed, **line.elsewhere}

    def row(self, line: Line) -> Row | None:
        """Return the comparison that decides, of one row with the reference."""
        return line.measured.get(self.column)

    def value(self, line: Line) -> float | None:
        """Return the value that was measured, or computed, and decides."""
        return line.values.get(self.column)

    def score(self, line: Line) -> Estimate | None:
        """Return the measured value with its interval; None where it is computed."""
        row = self.row(line)
        return row.scores.get(self.comparisons[self.column].metrics[0]) if row else None

    def gap(self, line: Line) -> float | None:
        """Return measured minus published, where they compare."""
        value, printed = self.value(line), self.published(line)
        return value - printed if self.table.comparable and value is not None and printed is not None else None

    def within(self, line: Line) -> bool | None:
        """Tell whether the gap is within the table's tolerance, which is one of scores."""
        gap = self.gap(line)
        return None if gap is None or line.status == "computed" else abs(gap) <= self.table.tolerance


def reproduction(table: Published, sweep: Sweep) -> Reproduction:
    """Return the table as far as a sweep over its rows, or over some of them, has measured it."""
    if table.measure is not None:
        values = measured(table, sweep)
        lines = tuple(_measured_line(_line(table, name, sweep, {}, {}), values) for name in table.rows)
        return Reproduction(table, sweep, (), {}, lines)
    systems = _systems(sweep)
    tests = scored_sets(systems)
    comparisons = {comparison.test: comparison for comparison in compare_all(systems, tests)}
    systems = with_mean(systems, tests) if MEAN in comparisons else systems
    by_address = {system.address: system for system in systems}
    run = {
        name: _line(table, name, sweep, by_address, comparisons)
        for name in table.rows
        if name not in {*table.improvements, *table.rescored}
    }
    computed = {name: _improvement(table, name, run) for name in table.improvements}
    computed |= {name: _rescored(table, name, run, comparisons) for name in table.rescored}
    lines = tuple((run | computed)[name] for name in table.rows)
    return Reproduction(table, sweep, tuple(systems), comparisons, lines)


def _measured_line(line: Line, measured: Mapping[Folder, Mapping[str, float]]) -> Line:
    """Return a line with the means and standard deviations of what its finished runs measure."""
    trials = line.configuration.trials if line.configuration else ()
    runs = [measured[trial.folder] for trial in trials if trial.folder in measured]
    if not runs:
        return line
    values = {column: [run[column] for run in runs] for column in runs[0]}
    return replace(
        line,
        values={column: float(np.mean(of_runs)) for column, of_runs in values.items()},
        deviations={column: float(np.std(of_runs, ddof=1)) for column, of_runs in values.items() if len(runs) > 1},
    )


def _systems(sweep: Sweep) -> list[SystemResult]:
    """Return the scored systems, the reference first, which may have no scores."""
    scored = {
        item.name: {trial.seed: trial.folder for trial in item.trials if run_files.scored(trial.folder)}
        for item in sweep.configurations
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
    table: Published,
    name: str,
    sweep: Sweep,
    systems: Mapping[str, SystemResult],
    comparisons: Mapping[str, Comparison],
) -> Line:
    same = next((merged for merged in sweep.merged if merged.label == name), None)
    run_name = same.same_as if same else name
    configuration = next((item for item in sweep.configurations if item.name == run_name), None)
    status, why = _status(table, name, configuration)
    if same:
        why = "; ".join(part for part in (f"runs once, as {same.same_as}: {same.reason}", why) if part)
    system = systems.get(configuration.address) if configuration else None
    measured, deviations = _measured(system, comparisons) if system else ({}, {})
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
            if (score := row.scores.get(comparisons[column].metrics[0]))
        },
        deviations=deviations,
    )


def _rescored(table: Published, name: str, lines: Mapping[str, Line], comparisons: Mapping[str, Comparison]) -> Line:
    """Return the outputs of a row by another metric, which does not compare with that of other rows."""
    of, metric = table.rescored[name]
    line, measured = lines[of], {}
    for column, row in lines[of].measured.items():
        if score := row.scores.get(metric):
            scores = {comparisons[column].metrics[0]: score}
            measured[column] = replace(row, scores=scores, difference=None, tested=None, corrected=None)
    return replace(
        line,
        name=name,
        why="; ".join(filter(None, (table.reason(name), line.why))),
        printed=table.printed.rows.get(name),
        elsewhere=table.literature.get(name, {}),
        measured=measured,
        values={column: row.scores[comparisons[column].metrics[0]].value for column, row in measured.items()},
        deviations={},
    )


def _improvement(table: Published, name: str, lines: Mapping[str, Line]) -> Line:
    """Return by how many per cent one row is above another, wherever both are measured."""
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


def _measured(system: SystemResult, comparisons: Mapping[str, Comparison]) -> tuple[dict[str, Row], dict[str, float]]:
    """Return the rows of a system in all comparisons, and the standard deviations over its seeds."""
    rows = {
        column: row
        for column, comparison in comparisons.items()
        for row in comparison.rows
        if row.address == system.address and row.scores
    }
    drawn = {column: system.resampled.get(column, {}).get(comparisons[column].metrics[0]) for column in rows}
    deviations = {
        column: float(np.std(resampled.scores, ddof=1))
        for column, resampled in drawn.items()
        if resampled and resampled.seeds > 1
    }
    return rows, deviations


def _status(table: Published, name: str, configuration: Configuration | None) -> tuple[Status, str]:
    if configuration is None:
        requested = name in table.space.rows
        return ("left out", "other rows were asked for") if requested else ("not run", table.reason(name))
    trials = configuration.trials
    scored = [trial for trial in trials if trial.progress == "finished" and run_files.scored(trial.folder)]
    failed = "; ".join(
        f"seed {trial.seed} failed: {trial.error or 'unknown'}" for trial in trials if trial.progress == "failed"
    )
    if len(scored) == len(trials):
        return "measured", ""
    later = "the command ended before: give it again"
    if scored:
        return "partly measured", f"{len(scored)} of {len(trials)} seeds; {failed or later}"
    return ("failed", failed) if failed else ("not begun", later)
