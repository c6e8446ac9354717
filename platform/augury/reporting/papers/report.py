"""The report of a paper's table: what is printed and what is measured, as a merge of two frames.

A row of the merged frame is a value of a row of the table in a column: a test set, `mean` over all
of them, or a quantity. Terminal, page, Markdown, LaTeX, CSV and JSON are made from it.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from textwrap import shorten
from typing import Any

import pandas as pd

from augury.core.progress import duration, say
from augury.core.store import Folder
from augury.reporting import run_files
from augury.reporting.answer import answer as compare_in_words
from augury.reporting.comparison import (
    Comparison,
    Row,
    compare_all,
    comparison,
    scored_sets,
)
from augury.reporting.downloads import downloads
from augury.reporting.find import with_reference
from augury.reporting.mean import with_mean
from augury.reporting.numbers import MISSING, factor, number, probability, signed, spread
from augury.reporting.papers.table import Published
from augury.reporting.report import Code, Details, Downloads, Listing, Places, Report, section
from augury.reporting.results import MEAN, SystemResult, deviation, load_groups, without_runs
from augury.reporting.score_charts import cost_sections
from augury.reporting.score_tables import COSTS, test_sections
from augury.reporting.styles import system_style
from augury.reporting.sweeps.locations import address_table, locations, reproduce_command
from augury.reporting.tables import Cell, Table, cell, csv, latex, plain_text, row, table
from augury.scoring.registry import title
from augury.sweeping.plan import Plan
from augury.sweeping.state import Configuration, Sweep

FILE = "measured.json"
"""The file, in the folder of a sweep, for tables of other quantities than scores: run -> printed
column -> value."""
LONGEST = 200
"""The maximum number of characters of a reason in notes."""
PART = " | "
"""Between table, line and column in the name of a quantity that stands in a table of its own."""
KEYS = ["row", "column"]
MEASURED = ["measured", "deviation", "low", "high", "difference", "p_corrected"]
"""Over seeds: the value, its standard deviation, the ends of its interval, and the difference to
the reference; only the value where it is no score."""
PRINTED = ["published", "text", "borrowed"]
"""The value, the same as printed, and whether it is another paper's."""
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
    compared: Mapping[str, Row] = field(default_factory=dict)
    """Test set, or `mean` -> the comparison with the reference."""


@dataclass(frozen=True)
class Reproduction:
    """A paper's table as far as it is measured."""

    table: Published
    sweep: Sweep
    lines: Mapping[str, Line]
    cells: pd.DataFrame
    """A record for every row and column: KEYS, MEASURED, PRINTED, whether the values are
    `comparable`, and `gap`, measured minus published, where they are."""
    systems: Sequence[SystemResult] = ()
    """The measured systems, the reference first."""
    comparisons: Mapping[str, Comparison] = field(default_factory=dict)
    """Comparisons with the reference by column; the first one decides."""
    marked: Mapping[str, Row] = field(default_factory=dict)
    """Row -> the comparison with the row that its printed mark names, if that is not the
    reference."""

    @property
    def column(self) -> str:
        """The column that decides: the mean over test sets, or the only test set."""
        return next(iter(self.comparisons), MEAN)

    @property
    def deciding(self) -> Comparison | None:
        """The comparison that decides; None before anything is scored."""
        return self.comparisons.get(self.column)

    @property
    def reference(self) -> str:
        """The row that the others are compared with."""
        return self.deciding.rows[0].name if self.deciding else self.table.reference

    @property
    def run(self) -> list[str]:
        """The rows that are run, or were to be."""
        return [name for name, line in self.lines.items() if line.configuration]

    @cached_property
    def records(self) -> Values:
        """Row -> column -> the record of the frame, None for what is not known."""
        known = self.cells.astype(object).where(self.cells.notna(), None)
        records: Values = {name: {} for name in self.lines}
        for record in known.to_dict("records"):
            records[record["row"]][record["column"]] = record
        return records

    def record(self, name: str, column: str | None = None) -> Mapping[str, Any]:
        """Return the record of a row in a column, by default the one that decides."""
        nothing = {**dict.fromkeys(self.cells.columns), "comparable": self.table.comparable}
        return self.records[name].get(column or self.column, nothing)

    def values(self, name: str) -> dict[str, float]:
        """Return the measured values of a row by column."""
        records = self.records[name].items()
        return {column: of["measured"] for column, of in records if of["measured"] is not None}

    def within(self, name: str) -> bool | None:
        """Return whether the deciding gap is within the table's tolerance; None where there is
        none, and for computed rows."""
        gap = self.record(name)["gap"]
        if gap is None or self.lines[name].status == "computed":
            return None
        return bool(abs(gap) <= self.table.declared.tolerance)


def load_reproduction(
    table: Published, sweep: Sweep, open_systems: OpenSystems, reference: str | None = None
) -> Reproduction:
    """Return the table as far as a sweep over its rows, or some of them, has measured it.

    `reference` is the row that the others are compared with, the table's by default.
    """
    lines = {name: _line(table, name, sweep) for name in table.rows}
    if table.declared.measure is not None:
        values = _quantities(table, sweep, lines, open_systems)
        return Reproduction(table, sweep, lines, _merged(table, values, MEAN))
    scored = {name: seeds for name, seeds in sweep.scored().items() if seeds}
    systems = load_groups(list(scored.values()), list(scored))
    first = sweep.by_address[sweep.reference]
    if first.name not in scored:
        systems.insert(0, without_runs(first.name, first.address))
    if reference is not None:
        systems = with_reference(systems, reference)
    tests = scored_sets(systems)
    comparisons = {compared.test: compared for compared in compare_all(systems, tests)}
    systems = with_mean(systems, tests) if MEAN in comparisons else systems
    column = next(iter(comparisons), MEAN)

    values = {name: {} for name in lines}
    for name, line in lines.items():
        if not line.configuration:
            continue
        found = {test: of.row(line.configuration.address) for test, of in comparisons.items()}
        line.compared = {test: row for test, row in found.items() if row and row.scores}
        for test, of_row in line.compared.items():
            values[name][test] = _score(of_row, comparisons[test].metrics[0])
    if measure := table.declared.quantities:
        further = measure({system.name: system for system in systems if system.runs})
        for name, line in lines.items():
            of_run = further.get(line.configuration.name, {}) if line.configuration else {}
            values[name] |= {quantity: {"measured": value} for quantity, value in of_run.items()}
    _compute(table, lines, values)

    marked = {}
    others = [system.name for system in systems[1:] if system.runs]
    for name, mark in table.marks.items():
        if mark.against in others and column in lines[name].compared:
            against = comparison(with_reference(systems, mark.against), column)
            if found_row := against.row(lines[name].compared[column].address):
                marked[name] = found_row
    cells = _merged(table, values, column)
    return Reproduction(table, sweep, lines, cells, systems, comparisons, marked)


def _line(table: Published, name: str, sweep: Sweep) -> Line:
    """Return the configuration of a row, and whether it is measured."""
    same = next((merged for merged in sweep.merged if merged.label == name), None)
    run = same.same_as if same else name
    configuration = next((item for item in sweep.configurations if item.name == run), None)
    if configuration is None and name in table.space.rows:
        return Line("left out", "other rows were asked for")
    if configuration is None:
        return Line("not run", table.reason(name))
    trials = configuration.trials
    ended = [trial for trial in trials if trial.progress == "finished"]
    scored = [trial for trial in ended if run_files.is_scored(trial.folder)]
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
    return Line(status, "; ".join(filter(None, (once, why))), configuration)


def _score(of_row: Row, metric: str) -> dict[str, Any]:
    score = of_row.scores.get(metric)
    known = (score.value, score.sd, score.low, score.high) if score else (None,) * 4
    return dict(zip(MEASURED, (*known, of_row.difference, of_row.corrected), strict=True))


def _compute(table: Published, lines: dict[str, Line], values: Values) -> None:
    """Add the rows that are made of others: improvements, other metrics, a system a column."""
    for name, (better, other) in table.declared.improvements.items():
        lines[name] = Line("computed", table.reason(name))
        for column in values[other].keys() & values[better].keys():
            of_better, of_other = (values[row][column]["measured"] for row in (better, other))
            if of_other and of_better is not None:
                values[name][column] = {"measured": 100 * (of_better / of_other - 1)}
    for name, (other, metric) in table.rescored.items():
        of = lines[other]
        why = "; ".join(filter(None, (table.reason(name), of.why)))
        # Its scores do not compare with those of other rows.
        compared = {
            test: replace(of_row, difference=None, tested=None, corrected=None)
            for test, of_row in of.compared.items()
            if metric in of_row.scores
        }
        lines[name] = Line(of.status, why, of.configuration, compared)
        values[name] = {test: _score(of_row, metric) for test, of_row in compared.items()}
    for name, parts in table.assembled.items():
        known = {column: values[part].get(column) for column, part in parts.items()}
        values[name] = {column: value for column, value in known.items() if value}
        if 1 < len(parts) == len(values[name]):
            of_all = statistics.fmean(value["measured"] for value in values[name].values())
            values[name][MEAN] = {"measured": of_all}
        statuses = {lines[part].status for part in parts.values()}
        status = statuses.pop() if len(statuses) == 1 else "partly measured"
        lines[name] = Line(status, table.reason(name))


def _quantities(
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
    version = [] if declared.measure_version == 1 else [f"version {declared.measure_version}"]
    by_run: dict[Folder, dict[str, float]] = {}
    for name, seeds in scored.items():
        for seed, run in seeds.items():
            paired = seed in reference and run not in reference.values()
            opened = [reference[seed], run] if paired else [run]
            key = " ".join([*(folder.name for folder in opened), *version])
            if key not in kept:
                say(f"{declared.where}: measuring {name}, seed {seed}")
                systems = open_systems(opened, sentences=declared.sentences.get(scale))
                found = declared.measure(*systems)
                kept[key] = {column: float(value) for column, value in found.items()}
                sweep.folder.write_record(FILE, kept)
            by_run[run] = kept[key]
    values: Values = {name: {} for name in lines}
    for name, line in lines.items():
        trials = line.configuration.trials if line.configuration else ()
        runs = pd.DataFrame([by_run[trial.folder] for trial in trials if trial.folder in by_run])
        for column in runs.columns[runs.notna().all()]:
            of_seeds = runs[column].to_list()
            mean = statistics.fmean(of_seeds)
            values[name][column] = {"measured": mean, "deviation": deviation(of_seeds)}
    return values


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
        (name, column if at == MEAN else at, value, of_row.texts[at], at in of_row.borrowed)
        for name, of_row in published.printed.items()
        for at, value in of_row.values.items()
        if at != column or MEAN not in of_row.values or column == MEAN
    ]
    left = pd.DataFrame(measured, columns=[*KEYS, *MEASURED])
    right = pd.DataFrame(printed, columns=[*KEYS, *PRINTED])
    columns = dict.fromkeys([*left["column"], *right["column"]])
    cells = left.merge(right, on=KEYS, how="outer")
    for key, names in zip(KEYS, (published.rows, columns), strict=True):
        cells[key] = pd.Categorical(cells[key], categories=list(names))
    cells = cells.sort_values(KEYS).astype(dict.fromkeys(KEYS, object))
    cells["comparable"] = ~cells["borrowed"].eq(True) & published.comparable
    cells["gap"] = (cells["measured"] - cells["published"]).where(cells["comparable"])
    return cells


def report(reproduction: Reproduction) -> Report:
    """Return the report of a table, as far as it is measured."""
    published, sweep, deciding = reproduction.table, reproduction.sweep, reproduction.deciding
    shown, sentence = f"{published.name} at scale {published.space.scale}", answer(reproduction)
    source, *cautions = heading(published)
    first, numbers, maps = rows(reproduction), by_test(reproduction), heat_maps(reproduction)
    others = [*filter(None, [numbers]), *maps]
    deviations = [f"not as in the paper: {line}" for line in published.deviations]
    # For papers, all notes are those of the first table.
    caption_lines = [source, *cautions, first.title, *first.notes, *deviations]
    for_papers = [
        replace(first, title="", notes=tuple(filter(None, caption_lines))),
        *(replace(other, title=f"{source}, {other.title}") for other in others),
    ]
    records = frame(reproduction)
    files = downloads(shown, csv=csv(records), tex=latex(for_papers))
    details = [Details("The numbers, and what is published", [numbers])] if numbers else []
    tests = test_sections(list(reproduction.comparisons.values()), "rows", *details)
    left_out = any(line.status == "left out" for line in reproduction.lines.values())
    asked = [name for name in reproduction.run if name != published.reference and left_out]
    runs = ((name, reproduction.lines[name].configuration) for name in reproduction.run)
    return Report(
        title=shown,
        question=published.space.question,
        answer=sentence,
        power=deciding.power_text if deciding else "",
        notes=[*cautions, *(deciding.warnings if deciding else ())],
        facts={
            "paper": source,
            "seeds": ", ".join(map(str, sweep.seeds)),
            "training in all": duration(sweep.seconds),
        },
        sections=[
            section("Published and measured", first, Downloads(files)),
            *(section(heat_map.title, heat_map) for heat_map in maps),
            *(tests or [section("Test sets", *details)]),
            *cost_sections(deciding),
            section("Deviations from the paper", Listing(published.deviations)),
            section("Repeat it", Code(reproduce_command(sweep, published.name, asked))),
            section(
                "Storage",
                Places(locations(sweep)),
                address_table("row", [(name, of) for name, of in runs if of]),
            ),
        ],
        data=to_dict(reproduction),
        summary=[
            "\n".join([source, *cautions]),
            first,
            *others,
            "\n".join(deviations),
            f"cost: {duration(sweep.seconds)} of training in all\n{sentence}",
        ],
        tables=for_papers,
        records=records,
        most_notes=12,
    )


def heading(published: Published) -> list[str]:
    """Return the table, paper and scale and, where published values do not compare, a caution."""
    declared, scale = published.declared, published.space.scale
    source = f"{declared.where} of {declared.paper}, at scale {scale}"
    if published.comparable:
        return [source]
    return [
        source,
        f"scale {scale} is not the paper's: published values are shown as literature, and do not "
        "compare with what is measured here",
    ]


def answer(reproduction: Reproduction) -> str:
    """Return the outcome in one sentence."""
    if reproduction.table.declared.measure is not None:
        count = sum(bool(reproduction.values(name)) for name in reproduction.lines)
        return f"{count} of {len(reproduction.run)} rows are measured."
    if reproduction.deciding is None:
        return "Nothing is measured yet."
    return compare_in_words(reproduction.deciding)


def notes_on(reproduction: Reproduction) -> list[str]:
    """Return notes that explain the numbers."""
    published, lines = reproduction.table, reproduction.lines
    tolerance = f"within the tolerance of ± {published.declared.tolerance:g}, or beyond it"
    marks = {name: published.marks[name] for name in reproduction.marked}
    return [
        *([f"measured − published: {tolerance}"] if published.comparable else []),
        *_reasons({name: line.why for name, line in lines.items()}),
        *(
            f"{name} elsewhere: {value} ({where})"
            for name in lines
            for where, value in published.declared.literature.get(name, {}).items()
        ),
        *(
            f"{name}, {marks[name].mark} to {marks[name].against}: {of.difference_text}, p "
            f"{number(of.corrected, probability)}; printed p < {marks[name].p}"
            for name, of in reproduction.marked.items()
        ),
        *printed_notes(published),
        f"{MISSING}: not printed in the paper, or not measured; ±: standard deviation over seeds",
        *(reproduction.deciding.notes if reproduction.deciding else ()),
    ]


def _reasons(by_row: Mapping[str, str]) -> list[str]:
    """Return a line for every reason, after the rows that have it."""
    names: dict[str, list[str]] = {}
    for name, why in by_row.items():
        names.setdefault(shorten(why, LONGEST, placeholder=" …"), []).append(name)
    return [f"{', '.join(of_reason)}: {why}" for why, of_reason in names.items() if why]


def printed_notes(published: Published) -> list[str]:
    """Return all remarks on what the paper prints, such as contradictions within it."""
    return [f"{published.declared.where}, {note}" for note in published.notes]


def rows(reproduction: Reproduction) -> Table:
    """Return published and measured values in one table, with differences to the reference, and
    cost; of other quantities than scores, all columns."""
    notes = tuple(notes_on(reproduction))
    if reproduction.table.declared.measure is not None:
        columns = [at for at in dict.fromkeys(reproduction.cells["column"]) if PART not in at]
        return replace(_by_column(reproduction, columns), notes=notes)
    cells = {name: _cells(reproduction, name) for name in reproduction.lines}
    columns = ["row", *next(iter(cells.values()))]
    shown = [_row(reproduction, name, of_row.values()) for name, of_row in cells.items()]
    test = reproduction.deciding.test if reproduction.deciding else ""
    return table(columns, shown, title=test, notes=notes, parts=(columns.index("data"),))


def by_test(reproduction: Reproduction) -> Table | None:
    """Return the values in every column; None where there is one, which `rows` has."""
    known = dict.fromkeys([*reproduction.comparisons, *reproduction.cells["column"]])
    columns = sorted(known, key=lambda at: at == MEAN)
    if reproduction.table.declared.measure is not None or {*columns} <= {reproduction.column}:
        return None
    return replace(_by_column(reproduction, columns), title="by test set")


def _by_column(reproduction: Reproduction, columns: Sequence[str]) -> Table:
    """Return measured values of rows by column, printed ones below; where these are no scores, with
    the number of seeds and the status."""
    shown, of_quantities = [], reproduction.table.declared.measure is not None
    for name, line in reproduction.lines.items():
        records = [reproduction.record(name, column) for column in columns]
        measured: list[object] = []
        for column, of in zip(columns, records, strict=True):
            text = spread(of["measured"], of["deviation"], _quantity)
            if column in reproduction.comparisons:  # a score; for deviations there is no room
                text = number(of["measured"])
            measured.append(Cell(text, of["measured"]))
        printed: list[object] = [Cell(of["text"] or MISSING, of["published"]) for of in records]
        if of_quantities:
            trials = line.configuration.trials if line.configuration else ()
            seeds = sum(trial.progress == "finished" for trial in trials)
            measured, printed = [seeds, *measured, line.status], ["", *printed, ""]
        if of_quantities or reproduction.values(name):
            shown.append(_row(reproduction, name, measured))
        if {of["column"] for of in records if of["text"]} - {reproduction.column}:
            shown.append(row([f"{name} (published)", *printed], faint=True))
    titles = ["seeds", *columns, "status"] if of_quantities else columns
    return table(["row", *titles], shown)


def heat_maps(reproduction: Reproduction) -> list[Table]:
    """Return the quantities `TABLE | LINE | COLUMN` of every row as shaded tables of their own."""
    parts = reproduction.cells[reproduction.cells["column"].str.contains(PART, regex=False)]
    least, most = parts["measured"].min(), parts["measured"].max()
    maps: dict[str, dict[str, dict[str, Cell]]] = {}
    for record in parts.to_dict("records"):
        of_map, line, column = record["column"].split(PART)
        value, sd = record["measured"], record["deviation"]
        text = spread(value, None if pd.isna(sd) else sd, _quantity)
        shade = (value - least) / max(1e-9, most - least) or 1e-3
        of_line = maps.setdefault(f"{record['row']}: {of_map}", {}).setdefault(line, {})
        of_line[column] = Cell(text, value, shade=shade)
    tables = []
    for name, lines in maps.items():
        columns = list(dict.fromkeys(column for of_line in lines.values() for column in of_line))
        shown = [[line, *(of.get(column) for column in columns)] for line, of in lines.items()]
        note = f"from {least:.3g}, light, to {most:.3g}"
        tables.append(table(["", *columns], shown, title=name, notes=(note,)))
    return tables


def _row(reproduction: Reproduction, name: str, cells: Iterable[object]) -> Any:
    """Return a row with its system's style in charts; rows without measured values are faint."""
    names = [system.name for system in reproduction.systems]
    style = system_style(names.index(name)) if name in names else None
    return row([name, *cells], style=style, faint=not reproduction.values(name))


def _cells(reproduction: Reproduction, name: str) -> dict[str, object]:
    published, deciding = reproduction.table, reproduction.deciding
    record, line = reproduction.record(name), reproduction.lines[name]
    compared, value = line.compared.get(reproduction.column), record["measured"]
    cost, low = compared.cost if compared else None, record["low"]
    measured = spread(value, record["deviation"])
    cells: dict[str, object] = {
        "seeds": len(compared.seeds) if compared else 0,
        "published" if published.comparable else "literature": Cell(
            record["text"] or MISSING, record["published"]
        ),
        title(deciding.metrics[0]) if deciding else "measured": Cell(measured, value),
        "95 % interval": None if low is None else f"[{low:.1f}, {record['high']:.1f}]",
    }
    if published.comparable:
        verdict = {True: " (within)", False: " (beyond)", None: ""}[reproduction.within(name)]
        gap = number(record["gap"], lambda of: f"{signed(of)}{verdict}")
        cells["measured − published"] = Cell(gap, record["gap"])
    return cells | {
        f"difference to {reproduction.reference} [95 %]": compared
        and Cell(compared.difference_text, compared.difference),
        "p": cell(compared.corrected if compared else None, probability),
        "data": cell(cost.data_factor if cost else None, factor),
        f"{deciding.time_kind if deciding else 'wall time'}/seed": cell(
            deciding.seconds(compared) if deciding and compared else None, duration
        ),
        f"× {reproduction.reference}": cell(compared.time_factor if compared else None, factor),
        "status": line.status,
    }


def _quantity(value: float) -> str:
    """Return counts in full, and other numbers below a hundred with three digits."""
    if not math.isfinite(value):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def frame(reproduction: Reproduction) -> pd.DataFrame:
    """Return a record for every row and column, with exact numbers.

    Rows without values have one.
    """
    lines = []
    for name, line in reproduction.lines.items():
        compared = line.compared.get(reproduction.column)
        seeds = " ".join(map(str, compared.seeds)) if compared else ""
        of_row = {"row": name, "seeds": seeds, "status": line.status, "why": line.why}
        cost = compared.cost if compared else None
        costs = {key: getattr(cost, key, None) for key in COSTS}
        time_factor = compared.time_factor if compared else None
        lines.append({**of_row, **costs, "time_factor": time_factor})
    joined = pd.DataFrame(lines).merge(reproduction.cells, on="row", how="left")
    joined["test"] = joined["column"].fillna(reproduction.column)
    joined["table"], joined["scale"] = reproduction.table.name, reproduction.table.space.scale
    keys = ["table", "scale", "row", "test", "published", "measured", "deviation", "difference"]
    further = ["p_corrected", "low", "high", "seeds", "status", "why", *COSTS, "time_factor"]
    return joined[[*keys, *further]]


def to_dict(reproduction: Reproduction) -> dict[str, Any]:
    """Return the reproduction as JSON-like values."""
    published, deciding = reproduction.table, reproduction.deciding
    return {
        **_published_dict(published),
        "reference": reproduction.reference,
        "answer": answer(reproduction),
        "column": reproduction.column,
        "metric": deciding.metrics[0] if deciding else None,
        "seeds": list(reproduction.sweep.seeds),
        "rows": [_line_dict(reproduction, name) for name in reproduction.lines],
        "cost": {"train_seconds": reproduction.sweep.seconds},
        "notes": notes_on(reproduction),
        "sweep": reproduction.sweep.folder.uri,
    }


def _published_dict(published: Published) -> dict[str, Any]:
    """Return table, paper, scale and what is printed as JSON-like values."""
    return {
        "table": published.name,
        "paper": published.declared.paper,
        "where": published.declared.where,
        "question": published.space.question,
        "scale": published.space.scale,
        "comparable": published.comparable,
        "reference": published.reference,
        "tolerance": published.declared.tolerance,
        "deviations": list(published.deviations),
        "notes": printed_notes(published),
    }


def _printed_dict(published: Published, name: str) -> dict[str, Any]:
    """Return the printed values of a row as JSON-like values."""
    notes = [
        {"column": note.column, "kind": note.kind, "text": note.text}
        for note in published.notes
        if note.row == name
    ]
    printed = published.printed[name].to_dict() if name in published.printed else {}
    return {"name": name, "published": published.values(name), **printed, "notes": notes}


def _line_dict(reproduction: Reproduction, name: str) -> dict[str, Any]:
    published, line = reproduction.table, reproduction.lines[name]
    record, compared = reproduction.record(name), line.compared.get(reproduction.column)
    tested = compared.tested if compared else None
    literature = dict(published.declared.literature.get(name, {}))
    if record["published"] is not None and not record["comparable"]:
        why = "of another paper" if published.comparable else "at the paper's scale"
        own = {f"{published.declared.where}, {why}": record["published"]}
        literature = own | literature
    return {
        "status": line.status,
        "why": line.why,
        "address": line.configuration.address if line.configuration else None,
        "seeds": list(compared.seeds) if compared else [],
        **_column_dict(record),
        **_printed_dict(published, name),  # all its printed values, by column
        "comparable": record["comparable"],
        "literature": literature,
        "gap": record["gap"],
        "within_tolerance": reproduction.within(name),
        "difference_interval": [tested.low, tested.high] if tested else None,
        "p": tested.p_value if tested else None,
        "mark": compared.mark if compared else "",
        "cost": asdict(compared.cost) if compared and compared.cost else None,
        "time_factor": compared.time_factor if compared else None,
        "tests": {at: _column_dict(of) for at, of in reproduction.records[name].items()},
    }


def _column_dict(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the printed and the measured value of a row in one column."""
    names = ("published", "measured", "deviation", "difference", "p_corrected")
    ends = None if record["low"] is None else [record["low"], record["high"]]
    return {**{name: record[name] for name in names}, "interval": ends}


def plan_dict(published: Published, plan: Plan) -> dict[str, Any]:
    """Return rows, configurations and deviations before anything is run, as JSON-like values."""
    planned = [_plan_row(published, plan, name) for name in published.rows]
    return {**_published_dict(published), "rows": planned, **plan.to_dict()}


def plan_text(published: Published, plan: Plan) -> str:
    """Return rows with the addresses of configurations, and deviations.

    Of several test sets only the mean.
    """
    planned = [_plan_row(published, plan, name) for name in published.rows]
    cells = []
    for of_row in planned:
        printed = published.printed.get(of_row["name"])
        texts = printed.texts if printed else {}
        listed = ", ".join(f"{column} {text}" for column, text in texts.items()) or MISSING
        cells.append([of_row["name"], texts.get(MEAN, listed), of_row["address"]])
    reasons = _reasons({of_row["name"]: of_row["why"] for of_row in planned})
    notes = (*reasons, *printed_notes(published))
    shown = table(("row", "published", "run"), cells, notes=notes)
    return "\n\n".join(
        [
            f"{published.space.question}\n{heading(published)[0]}",
            plain_text([shown]).rstrip("\n"),
            "\n".join(f"not as in the paper: {line}" for line in published.deviations),
        ]
    )


def _plan_row(published: Published, plan: Plan, name: str) -> dict[str, Any]:
    """Return a row as it is printed, and the address of its runs, or the reason why it has none."""
    addresses = {planned.name: planned.address for planned in plan.configurations.values()}
    same = next((merged for merged in plan.merged if merged.label == name), None)
    why = f"as {same.same_as}: {same.reason}" if same else ""
    if not same and plan.configurations and name not in addresses:
        other = name in published.space.rows
        why = "other rows were asked for" if other else published.reason(name)
    address = addresses.get(same.same_as if same else name)
    return {**_printed_dict(published, name), "address": address, "why": why}
