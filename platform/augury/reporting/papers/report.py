"""The report of a paper's table: text, page, Markdown, LaTeX, CSV and JSON of printed and measured
values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import pandas as pd

from augury.core.progress import duration
from augury.reporting.answer import answer as compare_in_words
from augury.reporting.numbers import MISSING, factor, number, probability, signed, spread
from augury.reporting.papers.reproduction import Reproduction
from augury.reporting.papers.table import with_rows
from augury.reporting.report import Code, Details, Listing, Places, Report, section
from augury.reporting.results import MEAN
from augury.reporting.score_charts import cost_sections
from augury.reporting.score_tables import COSTS, test_sections
from augury.reporting.styles import system_style
from augury.reporting.sweeps.locations import address_table, locations, reproduce_command
from augury.reporting.tables import Cell, Table, cell, row, table
from augury.scoring.registry import title

PART = " | "
"""Between table, line and column in the name of a quantity that stands in a table of its own."""


def report(reproduction: Reproduction) -> Report:
    """Return the report of a table, as far as it is measured."""
    published, sweep, deciding = reproduction.table, reproduction.sweep, reproduction.deciding
    shown, sentence = f"{published.name} at scale {published.space.scale}", answer(reproduction)
    source, *cautions = published.heading
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
            section("Published and measured", first),
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
        *with_rows({name: line.why for name, line in lines.items()}),
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
        *published.remarks,
        f"{MISSING}: not printed in the paper, or not measured; ±: standard deviation over seeds",
        *(reproduction.deciding.notes if reproduction.deciding else ()),
    ]


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
        **published.to_dict(),
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
        **published.row_dict(name),  # all its printed values, by column
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
