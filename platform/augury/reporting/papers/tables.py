"""A paper's table as tables, notes and JSON-like values: what is planned, and what is measured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from textwrap import shorten
from typing import Any

import pandas as pd

from augury.core.progress import duration
from augury.reporting.answer import answer as compare_in_words
from augury.reporting.numbers import MISSING, NumberFormat, factor, probability, signed, spread
from augury.reporting.papers.reproduction import Measurement, Reproduction, TableLine
from augury.reporting.results import MEAN
from augury.reporting.score_tables import COSTS
from augury.reporting.styles import system_style
from augury.reporting.tables import Cell, Row, Table, cell, plain_text, row, table
from augury.scoring.registry import title
from augury.sweeping.plan import Plan
from augury.sweeping.published import Published

LONGEST = 200
"""The maximum number of characters of a reason in the notes."""
PART = " | "
"""Between table, line and column in the name of a quantity that stands in a table of its own."""


def heading(reproduction: Reproduction) -> list[str]:
    """Return the table, paper and scale and, where published values do not compare, a caution."""
    table, scale = reproduction.table, reproduction.table.space.scale
    lines = [f"{table.where} of {table.paper}, at scale {scale}"]
    if not table.comparable:
        lines.append(
            f"scale {scale} is not the paper's: published values are shown as literature, and do "
            "not compare with what is measured here"
        )
    return lines


def answer(reproduction: Reproduction) -> str:
    """Return the outcome in one sentence."""
    if reproduction.table.measure is not None:
        count = sum(bool(line.values) for line in reproduction.lines)
        runs = sum(line.configuration is not None for line in reproduction.lines)
        return f"{count} of {runs} rows are measured."
    if reproduction.deciding is None:
        return "Nothing is measured yet."
    return compare_in_words(reproduction.deciding)


def rows(reproduction: Reproduction) -> Table:
    """Return published and measured values in one table, with differences to the reference, and
    cost."""
    if reproduction.table.measure is not None:
        return _quantity_table(reproduction)
    cells = [_cells(reproduction, line) for line in reproduction.lines]
    columns = ["row", *cells[0]]
    lines = [
        _row(reproduction, line, of_line.values())
        for line, of_line in zip(reproduction.lines, cells, strict=True)
    ]
    return table(
        columns,
        lines,
        title=reproduction.deciding.test if reproduction.deciding else "",
        notes=tuple(notes(reproduction)),
        parts=(columns.index("data"),),
    )


def published_by_test(reproduction: Reproduction) -> Table | None:
    """Return the values on every test set, printed ones below measured ones; None where there is
    one set.

    Rows with only a printed mean are not repeated; `rows` has it.
    """
    own = {reproduction.column, MEAN}
    printed = [line for line in reproduction.lines if set(line.published) - own]
    several = len(reproduction.comparisons) > 1
    if reproduction.table.measure is not None or not (several or printed):
        return None
    columns = list(dict.fromkeys([*reproduction.columns, MEAN]))
    lines = []
    for line in reproduction.lines:
        if line.values:
            values = [cell(line.values.get(column)) for column in columns]
            lines.append(_row(reproduction, line, values))
        if line in printed:
            lines.append(_printed(line, columns))
    return table(["row", *columns], lines, title="by test set")


def _quantity_table(reproduction: Reproduction) -> Table:
    """Return the table of other quantities than scores: measured values by printed column,
    printed ones below."""
    columns = [column for column in reproduction.columns if PART not in column]
    lines = []
    for line in reproduction.lines:
        measured = [_with_deviation(line.measured(column), _quantity) for column in columns]
        trials = line.configuration.trials if line.configuration else ()
        seeds = sum(trial.progress == "finished" for trial in trials)
        lines.append(_row(reproduction, line, [seeds, *measured, line.status]))
        if line.published:
            name, *printed = _printed(line, columns).cells
            lines.append(row([name, "", *printed, ""], faint=True))
    return table(["row", "seeds", *columns, "status"], lines, notes=tuple(notes(reproduction)))


def matrices(reproduction: Reproduction) -> list[Table]:
    """Return the quantities `TABLE | LINE | COLUMN` of every row as shaded tables of their own."""
    tables: dict[str, dict[tuple[str, str], Measurement]] = {}
    for line in reproduction.lines:
        for quantity, measured in line.measurements.items():
            if PART in quantity:
                name, row, column = quantity.split(PART)
                tables.setdefault(f"{line.name}: {name}", {})[row, column] = measured
    known = [measured.value for cells in tables.values() for measured in cells.values()]
    values = [value for value in known if value is not None]
    least, most = min(values, default=0.0), max(values, default=1.0)
    return [_matrix(title, cells, least, most) for title, cells in tables.items()]


def _matrix(
    title: str, cells: Mapping[tuple[str, str], Measurement], least: float, most: float
) -> Table:
    rows, columns = (list(dict.fromkeys(names)) for names in zip(*cells, strict=True))

    def shaded(measured: Measurement) -> Cell:
        shown = _with_deviation(measured, _quantity)
        if measured.value is None:
            return shown
        return replace(shown, shade=(measured.value - least) / max(1e-9, most - least) or 1e-3)

    lines = [
        [row, *(shaded(cells.get((row, column), Measurement())) for column in columns)]
        for row in rows
    ]
    note = f"from {least:.3g}, light, to {most:.3g}"
    return table(["", *columns], lines, title=title, notes=(note,))


def _row(reproduction: Reproduction, line: TableLine, cells: Iterable[object]) -> Row:
    """Return a row with its system's style in charts; rows without measured values are faint."""
    names = [system.name for system in reproduction.systems]
    style = system_style(names.index(line.name)) if line.name in names else None
    return row([line.name, *cells], style=style, faint=not line.values)


def _printed(line: TableLine, columns: Sequence[str]) -> Row:
    """Return the printed values of a row."""
    cells = [
        Cell(line.texts.get(column, MISSING), line.published.get(column)) for column in columns
    ]
    return row([f"{line.name} (published)", *cells], faint=True)


def notes(reproduction: Reproduction) -> list[str]:
    """Return notes that explain the numbers."""
    table, lines = reproduction.table, reproduction.lines
    within = f"measured − published: within the tolerance of ± {table.tolerance:g}, or beyond it"
    short = {line.name: shorten(line.reason, LONGEST, placeholder=" …") for line in lines}
    elsewhere = [
        f"{line.name} elsewhere: {value} ({where})"
        for line in lines
        for where, value in line.literature.items()
    ]
    return [
        *([within] if table.comparable else []),
        *reasons(short),
        *elsewhere,
        *printed_notes(table),
        f"{MISSING}: not printed in the paper, or not measured; ±: standard deviation over seeds",
        *(reproduction.deciding.notes if reproduction.deciding else ()),
    ]


def reasons(by_row: Mapping[str, str]) -> list[str]:
    """Return a line for every reason, prefixed by the rows that have it.

    Rows without a reason are left out.
    """
    names: dict[str, list[str]] = {}
    for name, reason in by_row.items():
        names.setdefault(reason, []).append(name)
    return [f"{', '.join(of_reason)}: {reason}" for reason, of_reason in names.items() if reason]


def deviations(table: Published) -> list[str]:
    """Return the deviations from the paper at the table's scale."""
    return [f"not as in the paper: {line}" for line in table.deviations]


def tables(reproduction: Reproduction) -> list[Table]:
    """Return the rows, the values on every test set, and tables of single rows."""
    tests = published_by_test(reproduction)
    return [rows(reproduction), *([tests] if tests else []), *matrices(reproduction)]


def printed_tables(reproduction: Reproduction) -> list[Table]:
    """Return the tables for papers, where all notes are those of the first."""
    (first, *others), (source, *cautions) = tables(reproduction), heading(reproduction)
    title, known = [first.title] if first.title else [], notes(reproduction)
    lines = (source, *cautions, *title, *known, *deviations(reproduction.table))
    titled = [replace(other, title=f"{source}, {other.title}") for other in others]
    return [replace(first, title="", notes=lines), *titled]


def frame(reproduction: Reproduction) -> pd.DataFrame:
    """Return a record for every row and column, with exact numbers.

    Rows without measured values have one.
    """
    lines = [_records(reproduction, line) for line in reproduction.lines]
    return pd.DataFrame(list(chain.from_iterable(lines)))


def to_dict(reproduction: Reproduction) -> dict[str, Any]:
    """Return the reproduction as JSON-like values."""
    table = reproduction.table
    return {
        **caption(table),
        "reference": reproduction.reference,
        "answer": answer(reproduction),
        "column": reproduction.column,
        "metric": reproduction.deciding.metrics[0] if reproduction.deciding else None,
        "seeds": list(reproduction.sweep.seeds),
        "rows": [_line_dict(reproduction, line) for line in reproduction.lines],
        "cost": {"train_seconds": reproduction.sweep.seconds},
        "deviations": list(table.deviations),
        "notes": notes(reproduction),
        "sweep": reproduction.sweep.folder.uri,
    }


def caption(table: Published) -> dict[str, Any]:
    """Return table, paper and scale as JSON-like values."""
    return {
        "table": table.name,
        "paper": table.paper,
        "where": table.where,
        "question": table.space.question,
        "scale": table.space.scale,
        "comparable": table.comparable,
        "reference": table.space.reference,
        "tolerance": table.tolerance,
    }


def printed_notes(table: Published) -> list[str]:
    """Return notes on the printed values, such as contradictions within the paper."""
    return [f"{table.where}, {note}" for note in table.printed.notes]


def printed_dict(table: Published, name: str) -> dict[str, Any]:
    """Return the printed values of a row as JSON-like values."""
    row = table.printed.rows.get(name)
    notes = [note.to_dict() for note in table.printed.notes if note.row == name]
    return {
        "name": name,
        "published": dict(table.values(name)),
        **(row.to_dict() if row else {}),
        "notes": notes,
    }


def _line_dict(reproduction: Reproduction, line: TableLine) -> dict[str, Any]:
    compared = reproduction.measurement(line).row
    tested = compared.tested if compared else None
    columns = dict.fromkeys([*line.values, *line.published])  # measured ones first
    deciding = _column_dict(line, reproduction.column)
    del deciding["published"]  # the printed dict has all of them
    return {
        **printed_dict(reproduction.table, line.name),
        "status": line.status,
        "why": line.reason,
        "address": line.configuration.address if line.configuration else None,
        "seeds": list(compared.seeds) if compared else [],
        **deciding,
        "comparable": reproduction.comparable(line),
        "literature": reproduction.literature(line),
        "gap": reproduction.gap(line),
        "within_tolerance": reproduction.within(line),
        "difference_interval": [tested.low, tested.high] if tested else None,
        "p": tested.p_value if tested else None,
        "mark": compared.mark if compared else "",
        "cost": asdict(compared.cost) if compared and compared.cost else None,
        "time_factor": compared.time_factor if compared else None,
        "tests": {column: _column_dict(line, column) for column in columns},
    }


def _column_dict(line: TableLine, column: str) -> dict[str, Any]:
    """Return the printed and the measured value of a row in one column."""
    measured = line.measured(column)
    return {
        "published": line.published.get(column),
        "measured": measured.value,
        "interval": [measured.score.low, measured.score.high] if measured.score else None,
        "deviation": measured.deviation,
        "difference": measured.row.difference if measured.row else None,
        "p_corrected": measured.row.corrected if measured.row else None,
    }


def _records(reproduction: Reproduction, line: TableLine) -> Iterator[dict[str, Any]]:
    """Yield a record for every column of a row, or one for a row without columns."""
    line_dict = _line_dict(reproduction, line)
    columns = line_dict["tests"] or {reproduction.column: _column_dict(line, reproduction.column)}
    for column, values in columns.items():
        low, high = values.pop("interval") or (None, None)
        yield {
            "table": reproduction.table.name,
            "scale": reproduction.table.space.scale,
            "row": line.name,
            "test": column,
            **values,
            "low": low,
            "high": high,
            "seeds": " ".join(map(str, line_dict["seeds"])),
            "status": line.status,
            "why": line.reason,
            **{name: (line_dict["cost"] or {}).get(name) for name in COSTS},
            "time_factor": line_dict["time_factor"],
        }


def _cells(reproduction: Reproduction, line: TableLine) -> dict[str, object]:
    measured, deciding = reproduction.measurement(line), reproduction.deciding
    compared, score = measured.row, measured.score
    cost = compared.cost if compared else None
    verdict = {True: " (within)", False: " (beyond)", None: ""}[reproduction.within(line)]
    comparable, reference = reproduction.table.comparable, reproduction.reference
    cells: dict[str, object] = {
        "seeds": len(compared.seeds) if compared else 0,
        "published" if comparable else "literature": Cell(
            reproduction.printed(line), reproduction.published(line)
        ),
        title(deciding.metrics[0]) if deciding else "measured": _with_deviation(measured, ".1f"),
        "95 % interval": Cell(f"[{score.low:.1f}, {score.high:.1f}]" if score else MISSING),
    }
    if comparable:
        gap = cell(reproduction.gap(line), lambda value: f"{signed(value)}{verdict}")
        cells["measured − published"] = gap
    return cells | {
        f"difference to {reference} [95 %]": compared
        and Cell(compared.difference_text, compared.difference),
        "p": cell(compared.corrected if compared else None, probability),
        "data": cell(cost.data_factor if cost else None, factor),
        f"{deciding.time_kind if deciding else 'wall time'}/seed": cell(
            deciding.seconds(compared) if deciding and compared else None, duration
        ),
        f"× {reference}": cell(compared.time_factor if compared else None, factor),
        "status": line.status,
    }


def _with_deviation(measured: Measurement, form: NumberFormat) -> Cell:
    """Return a measured value with its standard deviation over seeds: `31.2 ± 0.4`."""
    return Cell(spread(measured.value, measured.deviation, form), measured.value)


def _quantity(value: float) -> str:
    """Return counts in full, and other numbers below a hundred with three digits."""
    if not math.isfinite(value):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def plan_dict(table: Published, plan: Plan) -> dict[str, Any]:
    """Return rows, configurations and deviations before anything is run, as JSON-like values."""
    return {
        **caption(table),
        "rows": [_plan_row(table, plan, name) for name in table.rows],
        **plan.to_dict(),
        "deviations": list(table.deviations),
        "notes": printed_notes(table),
    }


def plan_text(published: Published, plan: Plan) -> str:
    """Return rows with the addresses of configurations, and deviations.

    Of several test sets only the mean.
    """
    rows = [_plan_row(published, plan, name) for name in published.rows]
    cells = []
    for planned in rows:
        texts = published.texts(planned["name"])
        listed = ", ".join(f"{column} {text}" for column, text in texts.items()) or MISSING
        cells.append([planned["name"], texts.get(MEAN, listed), planned["address"]])
    notes = (*reasons({row["name"]: row["why"] for row in rows}), *printed_notes(published))
    shown = plain_text([table(("row", "published", "run"), cells, notes=notes)])
    scale = published.space.scale
    parts = [
        f"{published.space.question}\n{published.where} of {published.paper}, at scale {scale}",
        shown.rstrip("\n"),
        "\n".join(deviations(published)),
    ]
    return "\n\n".join(filter(None, parts))


def _plan_row(table: Published, plan: Plan, name: str) -> dict[str, Any]:
    """Return a row as it is printed, and the address of its runs, or the reason why it has none."""
    addresses = {planned.name: planned.address for planned in plan.configurations.values()}
    same = next((merged for merged in plan.merged if merged.label == name), None)
    reason = ""
    if same:
        reason = f"as {same.same_as}: {same.reason}"
    elif plan.configurations and name not in addresses:
        reason = "other rows were asked for" if name in table.space.rows else table.reason(name)
    return {
        **printed_dict(table, name),
        "address": addresses.get(same.same_as if same else name),
        "why": reason,
    }
