"""The rows of a paper's table: printed values, measured values, and the reasons why rows were
not run."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from augury.core.progress import say
from augury.core.store import Folder
from augury.reporting import run_files
from augury.reporting.comparison import Comparison, Row, compare_all, scored_sets, with_mean
from augury.reporting.numbers import MISSING
from augury.reporting.results import (
    MEAN,
    Estimate,
    SystemResult,
    deviation,
    load_groups,
    without_runs,
)
from augury.reporting.selection import with_reference
from augury.sweeping.printed import PrintedRow
from augury.sweeping.published import Published
from augury.sweeping.state import Configuration, Sweep

MEASURED = "measured.json"
"""The file, in the folder of a sweep, for tables of other quantities than scores: run -> printed
column -> value."""

OpenSystems = Callable[..., Sequence[Any]]
"""Run folders -> what `measure` of a table takes."""
Status = Literal[
    "measured", "partly measured", "failed", "left out", "not begun", "not run", "computed"
]


@dataclass(frozen=True)
class Measurement:
    """The measured value of a row in one column; None: not known."""

    value: float | None = None
    deviation: float | None = None
    """The standard deviation over seeds."""
    row: Row | None = None
    """The comparison with the reference."""
    score: Estimate | None = None
    """The value with its interval; None where it is computed from others, or no score."""


@dataclass(frozen=True)
class TableLine:
    """One row of the table; values are by column: a test set, or `mean` over all of them."""

    name: str
    status: Status
    """left out: other rows were asked for; not begun: the command ended before; not run: no
    configuration measures it; computed: from other rows, as far as they are measured."""
    reason: str
    """The reason of the status; empty where everything is measured."""
    configuration: Configuration | None
    printed: PrintedRow | None
    """None where the paper does not print the row."""
    literature: Mapping[str, float]
    """Source -> a value of the same system published there."""
    measurements: Mapping[str, Measurement] = field(default_factory=dict)

    @property
    def values(self) -> Mapping[str, float]:
        """The measured values, or those computed from them."""
        return {
            column: measurement.value
            for column, measurement in self.measurements.items()
            if measurement.value is not None
        }

    def measured(self, column: str) -> Measurement:
        """Return the measured value in a column."""
        return self.measurements.get(column, Measurement())

    @property
    def published(self) -> Mapping[str, float]:
        """The printed values."""
        return self.printed.values if self.printed else {}

    @property
    def texts(self) -> Mapping[str, str]:
        """The same values as they are printed."""
        return self.printed.texts if self.printed else {}


@dataclass(frozen=True)
class Reproduction:
    """A paper's table as far as it is measured."""

    table: Published
    sweep: Sweep
    systems: tuple[SystemResult, ...]
    """The measured systems, the reference first."""
    comparisons: Mapping[str, Comparison]
    """Comparisons with the reference by column; the first one decides."""
    lines: tuple[TableLine, ...]

    @property
    def column(self) -> str:
        """The column that decides: the mean over test sets, or the only test set."""
        return next(iter(self.comparisons), MEAN)

    @property
    def columns(self) -> list[str]:
        """The columns with printed or measured values, the mean over test sets last."""
        known = dict.fromkeys(self.comparisons)
        for line in self.lines:
            known |= dict.fromkeys([*line.values, *line.published])
        return sorted(known, key=lambda column: column == MEAN)

    @property
    def deciding(self) -> Comparison | None:
        """The comparison that decides; None before anything is scored."""
        return self.comparisons.get(self.column)

    @property
    def reference(self) -> str:
        """The row that the others are compared with."""
        return self.deciding.rows[0].name if self.deciding else str(self.table.space.reference)

    def published(self, line: TableLine) -> float | None:
        """Return the printed value in the column that decides."""
        return line.published.get(MEAN, line.published.get(self.column))

    def comparable(self, line: TableLine) -> bool:
        """Return whether that value is of the paper's own system, and the scale the paper's."""
        column = MEAN if MEAN in line.published else self.column
        borrowed = line.printed.borrowed if line.printed else ()
        return self.table.comparable and column not in borrowed

    def printed(self, line: TableLine) -> str:
        """Return the same as the paper prints it."""
        return line.texts.get(MEAN, line.texts.get(self.column, MISSING))

    def measurement(self, line: TableLine) -> Measurement:
        """Return the measured or computed value in the column that decides."""
        return line.measured(self.column)

    def literature(self, line: TableLine) -> dict[str, float]:
        """Return source -> published value that does not compare.

        At another scale the table's own is one of them, and so is one of another paper.
        """
        published = self.published(line)
        if self.comparable(line) or published is None:
            return dict(line.literature)
        why = "of another paper" if self.table.comparable else "at the paper's scale"
        return {f"{self.table.where}, {why}": published, **line.literature}

    def gap(self, line: TableLine) -> float | None:
        """Return measured minus published, where they compare."""
        value, printed = self.measurement(line).value, self.published(line)
        if not self.comparable(line) or value is None or printed is None:
            return None
        return value - printed

    def within(self, line: TableLine) -> bool | None:
        """Return whether the gap is within the table's tolerance; None where there is none, and
        for computed rows."""
        gap = self.gap(line)
        if gap is None or line.status == "computed":
            return None
        return abs(gap) <= self.table.tolerance


def load_reproduction(
    table: Published, sweep: Sweep, open_systems: OpenSystems, reference: str | None = None
) -> Reproduction:
    """Return the table as far as a sweep over its rows, or some of them, has measured it.

    `open_systems` is that of `augury.analysis`, for tables of other quantities than scores.
    `reference` is the row that the others are compared with, the table's by default.
    """
    if table.measure is not None:
        values = _measure_runs(table, sweep, open_systems)
        lines = [_line(table, name, sweep) for name in table.rows]
        lines = [replace(line, measurements=_means(line, values)) for line in lines]
        return Reproduction(table, sweep, (), {}, tuple(lines))
    systems = _systems(sweep)
    if reference is not None:
        systems = with_reference(systems, reference)
    tests = scored_sets(systems)
    comparisons = {comparison.test: comparison for comparison in compare_all(systems, tests)}
    systems = with_mean(systems, tests) if MEAN in comparisons else systems
    known: dict[str, TableLine] = {}
    for name in table.rows:
        if name not in {*table.improvements, *table.rescored, *table.assembled}:
            known[name] = _line(table, name, sweep, comparisons)
    computed = {name: _improvement(table, name, known) for name in table.improvements}
    computed |= {name: _rescored(table, name, known) for name in table.rescored}
    computed |= {name: _assembled(table, name, known) for name in table.assembled}
    ordered = tuple((known | computed)[name] for name in table.rows)
    return Reproduction(table, sweep, tuple(systems), comparisons, ordered)


def _measure_runs(
    table: Published, sweep: Sweep, open_systems: OpenSystems
) -> dict[Folder, Mapping[str, float]]:
    """Return the quantities of every scored run, by printed column.

    Each is measured once and kept with the sweep.
    """
    assert table.measure is not None
    kept = dict(sweep.folder.read_record(MEASURED)) if sweep.folder.exists(MEASURED) else {}
    scored, reference = sweep.scored(), {}
    if table.measure_with_reference:
        reference = scored[sweep.by_address[sweep.reference].name]
    version = [] if table.measure_version == 1 else [f"version {table.measure_version}"]
    values = {}
    for name, seeds in scored.items():
        for seed, run in seeds.items():
            paired = seed in reference and run not in reference.values()
            opened = [reference[seed], run] if paired else [run]
            key = " ".join([*(folder.name for folder in opened), *version])
            if key not in kept:
                say(f"{table.where}: measuring {name}, seed {seed}")
                systems = open_systems(opened, sentences=table.sentences)
                measure = table.measure if len(systems) == 1 else table.measure_with_reference
                assert measure is not None
                kept[key] = {column: float(value) for column, value in measure(*systems).items()}
                sweep.folder.write_record(MEASURED, kept)
            values[run] = kept[key]
    return values


def _means(line: TableLine, values: Mapping[Folder, Mapping[str, float]]) -> dict[str, Measurement]:
    """Return the means and standard deviations of the quantities over the scored runs of a line."""
    trials = line.configuration.trials if line.configuration else ()
    runs = [values[trial.folder] for trial in trials if trial.folder in values]
    common = [column for column in (runs[0] if runs else ()) if all(column in run for run in runs)]
    columns = {column: [run[column] for run in runs] for column in common}
    return {
        column: Measurement(statistics.fmean(of_runs), deviation(of_runs))
        for column, of_runs in columns.items()
    }


def _systems(sweep: Sweep) -> list[SystemResult]:
    """Return the scored systems after the reference, which may have no scores."""
    scored = {name: seeds for name, seeds in sweep.scored().items() if seeds}
    systems = load_groups(list(scored.values()), list(scored))
    reference = sweep.by_address[sweep.reference]
    if reference.name in scored:
        return systems
    return [without_runs(reference.name, reference.address), *systems]


def _line(
    table: Published, name: str, sweep: Sweep, comparisons: Mapping[str, Comparison] | None = None
) -> TableLine:
    """Return a row with its scores in all comparisons."""
    same = next((merged for merged in sweep.merged if merged.label == name), None)
    run_name = same.same_as if same else name
    configuration = next((item for item in sweep.configurations if item.name == run_name), None)
    status, reason = _status(table, name, configuration)
    if same:
        once = f"runs once, as {same.same_as}: {same.reason}"
        reason = "; ".join(filter(None, (once, reason)))
    measured = {}
    for column, comparison in (comparisons or {}).items():
        row = comparison.row(configuration.address) if configuration else None
        if row and row.scores:
            score = row.scores.get(comparison.metrics[0])
            value, sd = (score.value, score.sd) if score else (None, None)
            measured[column] = Measurement(value, sd, row, score)
    return replace(
        _unmeasured(table, name, status, reason), configuration=configuration, measurements=measured
    )


def _unmeasured(table: Published, name: str, status: Status, reason: str) -> TableLine:
    """Return a row with what the paper and the literature print."""
    printed, literature = table.printed.rows.get(name), table.literature.get(name, {})
    return TableLine(name, status, reason, None, printed, literature)


def _rescored(table: Published, name: str, lines: Mapping[str, TableLine]) -> TableLine:
    """Return the scores of a row's outputs in another metric, which does not compare with that
    of other rows."""
    other, metric = table.rescored[name]
    measured = {}
    for column, scored in lines[other].measurements.items():
        if scored.row and (score := scored.row.scores.get(metric)):
            row = replace(scored.row, difference=None, tested=None, corrected=None)
            measured[column] = Measurement(score.value, None, row, score)
    reason = "; ".join(filter(None, (table.reason(name), lines[other].reason)))
    return replace(
        _unmeasured(table, name, lines[other].status, reason),
        configuration=lines[other].configuration,
        measurements=measured,
    )


def _assembled(table: Published, name: str, lines: Mapping[str, TableLine]) -> TableLine:
    """Return a row with a column of each of several rows, and the mean where all columns are
    measured."""
    parts = table.assembled[name]
    measured = {column: lines[row].measured(column) for column, row in parts.items()}
    measured = {column: part for column, part in measured.items() if part.value is not None}
    statuses = {lines[row].status for row in parts.values()}
    status: Status = statuses.pop() if len(statuses) == 1 else "partly measured"
    values = [part.value for part in measured.values() if part.value is not None]
    if len(parts) > 1 and len(values) == len(parts):
        measured[MEAN] = Measurement(statistics.fmean(values))
    return replace(_unmeasured(table, name, status, table.reason(name)), measurements=measured)


def _improvement(table: Published, name: str, lines: Mapping[str, TableLine]) -> TableLine:
    """Return the relative improvement, in per cent, of one row over another, wherever both are
    measured."""
    better, other = (lines[row].values for row in table.improvements[name])
    measured = {
        column: Measurement(100 * (better[column] / value - 1))
        for column, value in other.items()
        if value and column in better
    }
    return replace(_unmeasured(table, name, "computed", table.reason(name)), measurements=measured)


def _status(table: Published, name: str, configuration: Configuration | None) -> tuple[Status, str]:
    if configuration is None and name in table.space.rows:
        return "left out", "other rows were asked for"
    if configuration is None:
        return "not run", table.reason(name)
    trials = configuration.trials
    ended = [trial for trial in trials if trial.progress == "finished"]
    scored = [trial for trial in ended if run_files.is_scored(trial.folder)]
    failed = "; ".join(
        f"seed {trial.seed} failed: {trial.error or 'unknown'}"
        for trial in trials
        if trial.progress == "failed"
    )
    if len(scored) == len(trials):
        return "measured", ""
    later = "the command ended before: give it again"
    if scored:
        return "partly measured", f"{len(scored)} of {len(trials)} seeds; {failed or later}"
    return ("failed", failed) if failed else ("not begun", later)
