"""What of a paper's table is measured, beside what is printed, as a merge of two frames.

A row of the merged frame is a value of a row of the table in a column: a test set, `mean` over all
of them, or a quantity.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from augury.core.messages import say
from augury.core.store import Folder
from augury.reporting.comparison import Comparison, compare_all, scored_sets
from augury.reporting.papers.table import Printed, Published
from augury.reporting.results import MEAN, SystemResult, deviation, load_groups
from augury.reporting.score_tables import Record, by_system, frame
from augury.sweeping.declarations import at_scale
from augury.sweeping.state import Configuration, Sweep

FILE = "measured.json"
"""The file, in the folder of a sweep, for other quantities than scores: run -> column -> value."""
LEFT_OUT = "other rows were asked for"
KEYS = ["row", "column"]
MEASURED = ["measured", "sd", "low", "high"]
"""Over seeds: the value, its standard deviation, the ends of its interval; only the value where it
is no score."""
TESTED = ["difference", "difference_low", "difference_high", "p", "p_corrected"]
"""Against the reference."""
Values = dict[str, dict[str, dict[str, Any]]]
"""Row -> column -> what is measured."""
OpenSystems = Callable[..., Sequence[Any]]
"""Run folders -> what `measure` of a table takes: `augury.analysis.system.open_systems`."""


@dataclass
class Line:
    """The state of a row."""

    status: str
    """measured; partly measured; failed; left out: other rows were asked for; not begun: the
    command ended before; not run: no configuration measures it; computed: from other rows."""
    why: str = ""
    configuration: Configuration | None = None
    seeds: tuple[int, ...] = ()
    """Those that are scored."""


@dataclass(frozen=True)
class Reproduction:
    """A paper's table as far as it is measured."""

    table: Published
    sweep: Sweep
    lines: Mapping[str, Line]
    cells: pd.DataFrame
    """A record for every row and column: KEYS, MEASURED, TESTED, the fields of `Printed`, whether
    the values are `comparable` and, where they are, `gap`, measured minus published, and whether
    this is `within` the table's tolerance."""
    comparisons: Mapping[str, Comparison]
    """Comparisons with the reference by column; the first one decides."""
    marked: Mapping[str, Record]
    """Row -> the record of the comparison with the row that its printed mark names."""

    @property
    def column(self) -> str:
        """The column that decides: the mean over test sets, or the only test set."""
        return next(iter(self.comparisons), MEAN)

    @property
    def deciding(self) -> Comparison | None:
        """The comparison that decides; None before anything is scored."""
        return self.comparisons.get(self.column)

    def compared(self, name: str) -> Record:
        """Return the record of a row in the column that decides; empty where it is not scored."""
        configuration = self.lines[name].configuration
        systems = by_system(self.deciding) if self.deciding else {}
        return systems.get(configuration.name, {}) if configuration else {}

    @property
    def reference(self) -> str:
        """The row that the others are compared with."""
        return self.deciding.rows[0].name if self.deciding else str(self.table.space.reference)


def load_reproduction(
    table: Published, sweep: Sweep, open_systems: OpenSystems, reference: str | None = None
) -> Reproduction:
    """Return the table as far as a sweep over its rows, or some of them, has measured it.

    `reference` is the row that the others are compared with, the table's by default.
    """
    lines = {name: _line(table, name, sweep) for name in table.rows}
    systems = _systems(sweep, reference)
    tests = scored_sets(systems)
    comparisons = {compared.test: compared for compared in compare_all(systems, tests)}
    scores = frame([*comparisons.values()])
    values = {name: _scores(scores, line) for name, line in lines.items()}
    if table.declared.measure is not None:
        for name, quantities in _measured(table, sweep, lines, open_systems).items():
            values[name] |= quantities
    _compute(table, lines, scores, values)
    marked = {}
    trained = [system.name for system in systems[1:] if system.runs]
    for name, mark in table.marks.items():
        line, against = lines[name], mark["against"]
        if against in trained and line.configuration:
            against_it = sorted(systems, key=lambda system: system.name != against)
            compared = compare_all(against_it, tests)[0]
            if found := by_system(compared).get(line.configuration.name):
                marked[name] = found
    cells = _merged(table, values, next(iter(comparisons), MEAN))
    return Reproduction(table, sweep, lines, cells, comparisons, marked)


def _line(table: Published, name: str, sweep: Sweep) -> Line:
    """Return the configuration of a row, and whether it is measured."""
    same = next((merged for merged in sweep.merged if merged.name == name), None)
    run = same.same_as if same else name
    configuration = next((item for item in sweep.configurations if item.name == run), None)
    if configuration is None and name in table.space.rows:
        return Line("left out", LEFT_OUT)
    if configuration is None:
        return Line("not run", table.reasons[name])
    trials = configuration.trials
    scored = sweep.scored()[run]
    failed = "; ".join(
        f"seed {trial.seed} failed: {trial.error or 'unknown'}"
        for trial in trials
        if trial.progress == "failed"
    )
    why = failed or "the command ended before: give it again"
    status = "failed" if failed else "not begun"
    if scored:
        status, why = "partly measured", f"{len(scored)} of {len(trials)} seeds; {why}"
    if len(scored) == len(trials):
        status, why = "measured", ""
    once = f"runs once, as {same.same_as}: {same.reason}" if same else ""
    why = "; ".join(filter(None, (once, why)))
    return Line(status, why, configuration, seeds=tuple(scored))


def _systems(sweep: Sweep, reference: str | None) -> list[SystemResult]:
    """Return the scored systems of a sweep, the one that the others are compared with first."""
    scored = {name: seeds for name, seeds in sweep.scored().items() if seeds}
    systems = load_groups([*scored.values()], [*scored], sweep.metrics)
    first = sweep.by_address[sweep.reference]
    if reference is not None:
        name = {merged.name: merged.same_as for merged in sweep.merged}.get(reference, reference)
        first = next(known for known in sweep.configurations if known.name == name)
    if first.name not in scored:
        systems.insert(0, SystemResult(first.name, first.address, runs={}))
    return sorted(systems, key=lambda system: system.name != first.name)


def _scores(
    scores: pd.DataFrame, line: Line, metric: str | None = None
) -> dict[str, dict[str, Any]]:
    """Return the scores of a row by test set, with differences to the reference; those in a metric
    that does not decide without."""
    if line.configuration is None or scores.empty:
        return {}
    of_row = scores[scores["address"] == line.configuration.address]
    of_row = of_row[of_row["metric"] == metric] if metric else of_row.drop_duplicates("test")
    known = of_row.dropna(subset="value").set_index("test").rename(columns={"value": "measured"})
    values: dict[str, dict[str, Any]] = known[MEASURED + TESTED].to_dict("index")
    return values


def _measured(
    table: Published, sweep: Sweep, lines: Mapping[str, Line], open_systems: OpenSystems
) -> Values:
    """Return the means of the quantities of every row over seeds.

    Each is measured once and kept with the sweep.
    """
    declared, scale = table.declared, table.space.scale
    assert declared.measure is not None
    kept = dict(sweep.folder.read_record(FILE)) if sweep.folder.exists(FILE) else {}
    scored, reference = sweep.scored(), {}
    if declared.measure_with_reference:
        reference = scored[sweep.by_address[sweep.reference].name]
    by_run: dict[Folder, dict[str, float]] = {}
    for name, seeds in scored.items():
        for seed, run in seeds.items():
            paired = seed in reference and run not in reference.values()
            opened = [reference[seed], run] if paired else [run]
            key = " ".join(folder.name for folder in opened)
            if key not in kept:
                say(f"{declared.where}: measuring {name}, seed {seed}")
                systems = open_systems(opened, sentences=declared.sentences.get(scale))
                found = declared.measure(*systems)
                kept[key] = {column: float(value) for column, value in found.items()}
                sweep.folder.write_record(FILE, kept)
            by_run[run] = kept[key]
    values: Values = {}
    for name, line in lines.items():
        trials = line.configuration.trials if line.configuration else ()
        runs = pd.DataFrame([by_run[trial.folder] for trial in trials if trial.folder in by_run])
        values[name] = {}
        for column in runs.columns[runs.notna().all()]:
            of_seeds = runs[column].to_list()
            mean = statistics.fmean(of_seeds)
            values[name][column] = {"measured": mean, "sd": deviation(of_seeds)}
    return values


def _compute(
    table: Published, lines: dict[str, Line], scores: pd.DataFrame, values: Values
) -> None:
    """Add the values of rows that are made of others, and what is known of these rows."""
    declared, scale = table.declared, table.space.scale
    for name, (better, other) in declared.improvements.items():
        lines[name] = Line("computed", table.reasons[name])
        for column in values[other].keys() & values[better].keys():
            of_better, of_other = (values[row][column]["measured"] for row in (better, other))
            if of_other:
                values[name][column] = {"measured": 100 * (of_better / of_other - 1)}
    for name, (other, metric) in at_scale(declared.rescored, scale).items():
        line = lines[other]
        why = "; ".join(filter(None, (table.reasons[name], line.why)))
        lines[name] = Line(line.status, why, seeds=line.seeds)
        for test, score in _scores(scores, line, metric).items():
            # Which do not compare with those of other rows.
            values[name][test] = {key: score[key] for key in MEASURED}
    for name, parts in at_scale(declared.assembled, scale).items():
        known = {column: values[part].get(column) for column, part in parts.items()}
        values[name] = {column: value for column, value in known.items() if value}
        if 1 < len(parts) == len(values[name]):
            of_all = statistics.fmean(value["measured"] for value in values[name].values())
            values[name][MEAN] = {"measured": of_all}
        statuses = {lines[part].status for part in parts.values()}
        status = statuses.pop() if len(statuses) == 1 else "partly measured"
        lines[name] = Line(status, table.reasons[name])


def _merged(published: Published, values: Values, column: str) -> pd.DataFrame:
    """Return what is measured and what is printed by row and column, in their order.

    The printed mean of a table with a single test set is that of the set, `column`.
    """
    measured = [
        {"row": name, "column": of_column, **value}
        for name, of_row in values.items()
        for of_column, value in of_row.items()
    ]
    printed = [
        (name, column if at == MEAN else at, *value)
        for name, of_row in published.printed.items()
        for at, value in of_row.items()
        if at != column or MEAN not in of_row or column == MEAN
    ]
    left = pd.DataFrame(measured, columns=[*KEYS, *MEASURED, *TESTED])
    right = pd.DataFrame(printed, columns=[*KEYS, *Printed._fields])
    columns = dict.fromkeys([*left["column"], *right["column"]])
    cells = left.merge(right, on=KEYS, how="outer")
    for key, names in zip(KEYS, (published.rows, columns), strict=True):
        cells[key] = pd.Categorical(cells[key], categories=list(names))
    cells = cells.sort_values(KEYS).astype(dict.fromkeys(KEYS, object))
    cells["comparable"] = ~cells["borrowed"].eq(True) & published.comparable
    cells["gap"] = (cells["measured"] - cells["published"]).where(cells["comparable"])
    within = (cells["gap"].abs() <= published.declared.tolerance).astype(object)
    computed = cells["row"].isin(list(published.declared.improvements))
    cells["within"] = within.where(cells["gap"].notna() & ~computed)
    return cells
