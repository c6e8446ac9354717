"""A reproduction as tables, notes and JSON-like values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from textwrap import shorten
from typing import Any

import pandas as pd

from augury.core.progress import duration
from augury.reporting import tables
from augury.reporting.answer import answer as compare_in_words
from augury.reporting.comparison import MEAN
from augury.reporting.looks import look
from augury.reporting.numbers import MISSING, Form, factor, number, probability, signed
from augury.reporting.papers.reproduction import Line, Measured, Reproduction
from augury.reporting.score_tables import COSTS
from augury.reporting.tables import Cell, Row, Table, cell, row, table
from augury.scoring.metrics import title
from augury.sweeping.published import Published

LONGEST = 200
"""Characters of an error among the notes."""


def heading(shown: Reproduction) -> list[str]:
    """Say what is reproduced and at which scale, and where values do not compare, that they do not."""
    table, scale = shown.table, shown.table.space.scale
    lines = [f"{table.where} of {table.paper}, at scale {scale}"]
    if not table.comparable:
        lines.append(
            f"scale {scale} is not the paper's: published values are shown as literature, and do not compare with "
            "what is measured here"
        )
    return lines


def answer(shown: Reproduction) -> str:
    """Return the table's outcome in one sentence."""
    if shown.table.measure is not None:
        count = sum(bool(line.values) for line in shown.lines)
        return f"{count} of {sum(line.configuration is not None for line in shown.lines)} rows are measured."
    return compare_in_words(shown.deciding) if shown.deciding else "Nothing is measured yet."


def rows(shown: Reproduction) -> Table:
    """Return published and measured values in one table, with differences to the reference, and cost."""
    if shown.table.measure is not None:
        return _quantities(shown)
    cells = [_cells(shown, line) for line in shown.lines]
    columns = ["row", *cells[0]]
    lines = [_row(shown, line, list(of_line.values())) for line, of_line in zip(shown.lines, cells, strict=True)]
    title, parts = shown.deciding.test if shown.deciding else "", (columns.index("data"),)
    return table(columns, lines, title=title, notes=tuple(notes(shown)), parts=parts)


def published_by_test(shown: Reproduction) -> Table | None:
    """Return the values of every test set, printed ones below measured ones; None where there is one set.

    What is printed of the mean alone is in the other table.
    """
    printed = [line for line in shown.lines if set(line.published) - {shown.column, MEAN}]
    if shown.table.measure is not None or (len(shown.comparisons) < 2 and not printed):
        return None
    columns = list(dict.fromkeys([*shown.columns, MEAN]))
    lines = []
    for line in shown.lines:
        if line.values:
            lines.append(_row(shown, line, [cell(line.values.get(column)) for column in columns]))
        if line in printed:
            lines.append(_printed(line, [cell(line.published.get(column)) for column in columns]))
    return table(["row", *columns], lines, title="by test set")


def _quantities(shown: Reproduction) -> Table:
    """Return what runs measure by printed column, and below what is printed; of a table that is not one of scores."""
    columns, lines = shown.columns, []
    for line in shown.lines:
        measured = [_with_deviation(line.measured.get(column, Measured()), _quantity) for column in columns]
        trials = line.configuration.trials if line.configuration else ()
        seeds = sum(trial.progress == "finished" for trial in trials)
        lines.append(_row(shown, line, [seeds, *measured, line.status]))
        if line.published:
            printed = [cell(line.published.get(column), _quantity) for column in columns]
            lines.append(_printed(line, [Cell(""), *printed, Cell("")]))
    return table(["row", "seeds", *columns, "status"], lines, notes=tuple(notes(shown)))


def _row(shown: Reproduction, line: Line, cells: Sequence[object]) -> Row:
    """Return a row with the look that charts give it; one that is not measured is faint."""
    names = [system.name for system in shown.systems]
    drawn = look(names.index(line.name)) if line.name in names else None
    return row([line.name, *cells], look=drawn, faint=not line.values)


def _printed(line: Line, cells: Sequence[Cell]) -> Row:
    return row([f"{line.name} (published)", *cells], faint=True)


def notes(shown: Reproduction) -> list[str]:
    """Return what must be known to read the numbers."""
    tolerance = f"measured − published: within the tolerance of ± {shown.table.tolerance:g}, or beyond it"
    return [
        *([tolerance] if shown.table.comparable else []),
        *reasons({line.name: shorten(line.why, LONGEST, placeholder=" …") for line in shown.lines}),
        *(
            f"{line.name} elsewhere: {value} ({where})"
            for line in shown.lines
            for where, value in line.elsewhere.items()
        ),
        *printed_notes(shown.table),
        f"{MISSING}: not printed in the paper, or not measured; ±: standard deviation over seeds",
        *(shown.deciding.notes if shown.deciding else ()),
    ]


def reasons(by_row: Mapping[str, str]) -> list[str]:
    """Return a line for every reason, behind the rows that it is of; a row without a reason is in none."""
    names: dict[str, list[str]] = {}
    for name, why in by_row.items():
        names.setdefault(why, []).append(name)
    return [f"{', '.join(of_reason)}: {why}" for why, of_reason in names.items() if why]


def deviations(shown: Reproduction) -> list[str]:
    """Return the deviations from the paper."""
    return [f"not as in the paper: {line}" for line in shown.table.deviations]


def _tables(shown: Reproduction) -> list[Table]:
    tests = published_by_test(shown)
    return [rows(shown), *([tests] if tests else [])]


def text(shown: Reproduction) -> str:
    """Return everything as plain lines, fitted to the terminal if there is one."""
    cost = f"cost: {duration(shown.sweep.seconds)} of training in all"
    ending = ["\n".join(lines) for lines in (deviations(shown), [cost, answer(shown)]) if lines]
    return "\n\n".join(["\n".join(heading(shown)), tables.plain_text(_tables(shown)).rstrip(), *ending]) + "\n"


def latex(shown: Reproduction) -> str:
    """Return tables of LaTeX with the package booktabs; notes are in the first one's caption."""
    (first, *others), (what, *cautions) = _tables(shown), heading(shown)
    lines = (what, *cautions, *([first.title] if first.title else []), *notes(shown), *deviations(shown))
    titled = [replace(other, title=f"{what}, {other.title}") for other in others]
    return tables.latex([replace(first, title="", notes=lines), *titled])


def csv(shown: Reproduction) -> str:
    """Return a line for every row and column, all numbers exact; a row that is not measured has one."""
    return tables.csv(pd.DataFrame([record for line in shown.lines for record in _records(shown, line)]))


FORMATS: Mapping[str, Callable[[Reproduction], str]] = {"text": text, "latex": latex, "csv": csv}


def to_dict(shown: Reproduction) -> dict[str, Any]:
    """Return the reproduction as JSON-like values."""
    table = shown.table
    return {
        **caption(table),
        "answer": answer(shown),
        "column": shown.column,
        "metric": shown.deciding.metrics[0] if shown.deciding else None,
        "seeds": list(shown.sweep.seeds),
        "rows": [_line_dict(shown, line) for line in shown.lines],
        "cost": {"train_seconds": shown.sweep.seconds},
        "deviations": list(table.deviations),
        "notes": notes(shown),
        "sweep": shown.sweep.folder.uri,
    }


def caption(table: Published) -> dict[str, Any]:
    """Return which table it is, and at which scale, as JSON-like values."""
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
    """Return what must be known of the printed values, such as where the paper contradicts itself."""
    return [f"{table.where}, {note}" for note in table.printed.notes]


def printed_dict(table: Published, name: str) -> dict[str, Any]:
    """Return what the paper prints of a row, as JSON-like values."""
    row = table.printed.rows.get(name)
    notes = [note.to_dict() for note in table.printed.notes if note.row == name]
    return {"name": name, "published": dict(table.values(name)), **(row.to_dict() if row else {}), "notes": notes}


def _line_dict(shown: Reproduction, line: Line) -> dict[str, Any]:
    compared = shown.measured(line).row
    tested = compared.tested if compared else None
    columns = dict.fromkeys([*line.values, *line.published])  # what is measured, and then of which more is printed
    return {
        **printed_dict(shown.table, line.name),
        "status": line.status,
        "why": line.why,
        "address": line.configuration.address if line.configuration else None,
        "seeds": list(compared.seeds) if compared else [],
        **{name: value for name, value in _column_dict(line, shown.column).items() if name != "published"},
        "literature": shown.literature(line),
        "gap": shown.gap(line),
        "within_tolerance": shown.within(line),
        "difference_interval": [tested.low, tested.high] if tested else None,
        "p": tested.p_value if tested else None,
        "mark": compared.mark if compared else "",
        "cost": asdict(compared.cost) if compared and compared.cost else None,
        "time_factor": compared.time_factor if compared else None,
        "tests": {column: _column_dict(line, column) for column in columns},
    }


def _column_dict(line: Line, column: str) -> dict[str, Any]:
    """Return what is printed and measured of one row in one column."""
    measured = line.measured.get(column, Measured())
    return {
        "published": line.published.get(column),
        "measured": measured.value,
        "interval": [measured.score.low, measured.score.high] if measured.score else None,
        "deviation": measured.deviation,
        "difference": measured.row.difference if measured.row else None,
        "p_corrected": measured.row.corrected if measured.row else None,
    }


def _records(shown: Reproduction, line: Line) -> Iterator[dict[str, Any]]:
    """Yield a record for every column of a row, or one where there is none."""
    whole = _line_dict(shown, line)
    for column, values in (whole["tests"] or {shown.column: _column_dict(line, shown.column)}).items():
        low, high = values["interval"] or (None, None)
        yield {
            "table": shown.table.name,
            "scale": shown.table.space.scale,
            "row": line.name,
            "test": column,
            **{name: value for name, value in values.items() if name != "interval"},
            "low": low,
            "high": high,
            "seeds": " ".join(map(str, whole["seeds"])),
            **{name: whole[name] for name in ("status", "why")},
            **{name: (whole["cost"] or {}).get(name) for name in COSTS},
            "time_factor": whole["time_factor"],
        }


def _cells(shown: Reproduction, line: Line) -> dict[str, object]:
    measured, gap, reference = shown.measured(line), shown.gap(line), shown.table.space.reference
    compared, score, comparable = measured.row, measured.score, shown.table.comparable
    cost = compared.cost if compared else None
    kind, times = shown.deciding.times() if shown.deciding else ("training time", {})
    difference = Cell(compared.difference_text, compared.difference) if compared else Cell(MISSING)
    verdict = {True: " (within)", False: " (beyond)", None: ""}[shown.within(line)]
    return {
        "seeds": len(compared.seeds) if compared else 0,
        "published" if comparable else "literature": cell(shown.published(line)),
        title(shown.deciding.metrics[0]) if shown.deciding else "measured": _with_deviation(measured, ".1f"),
        "95 % interval": Cell(f"[{score.low:.1f}, {score.high:.1f}]" if score else MISSING),
        **({"measured − published": cell(gap, lambda value: f"{signed(value)}{verdict}")} if comparable else {}),
        f"difference to {reference} [95 %]": difference,
        "p": cell(compared.corrected if compared else None, probability),
        "data": cell(cost.data_factor if cost else None, factor),
        kind: cell(times.get(compared.address) if compared else None, duration),
        f"× {reference}": cell(compared.time_factor if compared else None, factor),
        "status": line.status,
    }


def _with_deviation(measured: Measured, form: Form) -> Cell:
    """Return a measured value with its standard deviation over seeds: `31.2 ± 0.4`."""
    spread = "" if measured.deviation is None else f" ± {number(measured.deviation, form)}"
    return Cell(number(measured.value, form) + spread, measured.value)


def _quantity(value: float) -> str:
    """Return counts as they are, and what is smaller than a hundred with three digits."""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
