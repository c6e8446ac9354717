"""A reproduction as tables, notes and JSON-like values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from textwrap import shorten
from typing import Any

import pandas as pd

from augury.core.progress import duration
from augury.reporting import tables
from augury.reporting.answer import answer as compare_in_words
from augury.reporting.comparison import MEAN
from augury.reporting.looks import look
from augury.reporting.numbers import MISSING, factor, probability, signed
from augury.reporting.papers.reproduction import Line, Reproduction
from augury.reporting.score_tables import COSTS
from augury.reporting.tables import Cell, Row, Table
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
    comparable, reference = shown.table.comparable, shown.table.space.reference
    scores = [
        "row",
        "seeds",
        "published" if comparable else "literature",
        title(shown.deciding.metrics[0]) if shown.deciding else "measured",
        "95 % interval",
        *(["measured − published"] if comparable else []),
        f"difference to {reference} [95 %]",
        "p",
    ]
    columns = (*scores, "data", "train time", f"× {reference}", "status")
    lines = tuple(_row(shown, line.name, _cells(shown, line)) for line in shown.lines)
    return Table(
        columns, lines, shown.deciding.test if shown.deciding else "", tuple(notes(shown)), parts=(len(scores),)
    )


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
            lines.append(_row(shown, line.name, [_number(line.values.get(column)) for column in columns]))
        if line in printed:
            cells = tuple(Cell(_number(line.published.get(column))) for column in columns)
            lines.append(Row((Cell(f"{line.name} (published)"), *cells), faint=True))
    return Table(("row", *columns), tuple(lines), "by test set")


def _quantities(shown: Reproduction) -> Table:
    """Return what runs measure by printed column, and below what is printed; of a table that is not one of scores."""
    columns, lines = shown.columns, []
    for line in shown.lines:
        cells = [
            Cell(_quantity(value) + ("" if spread is None else f" ± {_quantity(spread)}"), value)
            for value, spread in ((line.values.get(column), line.deviations.get(column)) for column in columns)
        ]
        trials = line.configuration.trials if line.configuration else ()
        seeds = str(sum(trial.progress == "finished" for trial in trials))
        lines.append(_row(shown, line.name, [seeds, *cells, Cell(line.status, line.status)]))
        if line.published:
            printed = tuple(Cell(_quantity(line.published.get(column))) for column in columns)
            lines.append(Row((Cell(f"{line.name} (published)"), Cell(""), *printed, Cell("")), faint=True))
    return Table(("row", "seeds", *columns, "status"), tuple(lines), "", tuple(notes(shown)))


def _row(shown: Reproduction, name: str, cells: Sequence[str | Cell]) -> Row:
    """Return a row with the look that charts give it; one that is not measured is faint."""
    index = {system.name: place for place, system in enumerate(shown.systems)}
    measured = any(line.values for line in shown.lines if line.name == name)
    own = [cell if isinstance(cell, Cell) else Cell(cell) for cell in cells]
    return Row((Cell(name), *own), look(index[name]) if name in index else None, faint=not measured)


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
    cost = f"cost: {duration(shown.seconds)} of training in all"
    ending = ["\n".join(lines) for lines in (deviations(shown), [cost, answer(shown)]) if lines]
    return "\n\n".join(["\n".join(heading(shown)), tables.text(_tables(shown)).rstrip(), *ending]) + "\n"


def latex(shown: Reproduction) -> str:
    """Return tables of LaTeX with the package booktabs; notes are in the first one's caption."""
    first, *others = _tables(shown)
    lines = (*heading(shown), *([first.title] if first.title else []), *notes(shown), *deviations(shown))
    main = Table(first.columns, first.rows, notes=lines)
    return tables.latex(
        [main, *(Table(other.columns, other.rows, f"{heading(shown)[0]}, {other.title}") for other in others)]
    )


def csv(shown: Reproduction) -> str:
    """Return a line for every row and column, all numbers exact; a row that is not measured has one."""
    records = [_record(shown, line, column) for line in shown.lines for column in _columns(line) or [shown.column]]
    return tables.csv(pd.DataFrame(records))


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
        "cost": {"train_seconds": shown.seconds},
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
    row, deciding = shown.row(line), _test_dict(shown, line, shown.column)
    tested = row.tested if row else None
    return {
        **printed_dict(shown.table, line.name),
        "status": line.status,
        "why": line.why,
        "address": line.configuration.address if line.configuration else None,
        "seeds": list(row.seeds) if row else [],
        **{key: deciding[key] for key in ("measured", "interval", "deviation", "difference", "p_corrected")},
        "literature": shown.literature(line),
        "gap": shown.gap(line),
        "within_tolerance": shown.within(line),
        "difference_interval": [tested.low, tested.high] if tested else None,
        "p": tested.p_value if tested else None,
        "mark": row.mark if row else "",
        "cost": asdict(row.cost) if row and row.cost else None,
        "time_factor": row.time_factor if row else None,
        "tests": {column: _test_dict(shown, line, column) for column in _columns(line)},
    }


def _columns(line: Line) -> list[str]:
    """Return the test sets that are measured, and then those of which more is printed."""
    return list(dict.fromkeys([*line.values, *line.published]))


def _test_dict(shown: Reproduction, line: Line, column: str) -> dict[str, Any]:
    """Return one row on one test set."""
    row = line.measured.get(column)
    score = row.scores.get(shown.comparisons[column].metrics[0]) if row else None
    return {
        "published": line.published.get(column),
        "measured": line.values.get(column),
        "interval": [score.low, score.high] if score else None,
        "deviation": line.deviations.get(column),
        "difference": row.difference if row else None,
        "p_corrected": row.corrected if row else None,
    }


def _record(shown: Reproduction, line: Line, column: str) -> dict[str, Any]:
    whole, values = _line_dict(shown, line), _test_dict(shown, line, column)
    low, high = values.pop("interval") or (None, None)
    return {
        "table": shown.table.name,
        "scale": shown.table.space.scale,
        "row": line.name,
        "test": column,
        **values,
        "low": low,
        "high": high,
        "seeds": " ".join(map(str, whole["seeds"])),
        **{key: whole[key] for key in ("status", "why")},
        **{name: (whole["cost"] or {}).get(name) for name in COSTS},
        "time_factor": whole["time_factor"],
    }


def _cells(shown: Reproduction, line: Line) -> list[str | Cell]:
    row, score, value = shown.row(line), shown.score(line), shown.value(line)
    deviation, gap, cost = line.deviations.get(shown.column), shown.gap(line), row.cost if row else None
    verdict = {True: " (within)", False: " (beyond)", None: ""}[shown.within(line)]
    published = shown.published(line)
    return [
        Cell(str(len(row.seeds)) if row else "0"),
        Cell(_number(published), published),
        Cell(_number(value) + ("" if deviation is None else f" ± {deviation:.1f}"), value),
        f"[{score.low:.1f}, {score.high:.1f}]" if score else MISSING,
        *([MISSING if gap is None else f"{signed(gap)}{verdict}"] if shown.table.comparable else []),
        Cell(row.difference_text if row else MISSING, row.difference if row else None),
        Cell(probability(row.corrected if row else None), row.corrected if row else None),
        factor(cost.data_factor) if cost else MISSING,
        Cell(duration(cost.train_seconds) if cost else MISSING, cost.train_seconds if cost else None),
        factor(row.time_factor if row else None),
        Cell(line.status, line.status),
    ]


def _quantity(value: float | None) -> str:
    """Return counts as they are, and what is smaller than a hundred with three digits."""
    return MISSING if value is None else f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _number(value: float | None) -> str:
    return MISSING if value is None else f"{value:.1f}"
