"""The table that all reports use, and its renderings: terminal, Markdown, LaTeX, CSV.

Pages render it as HTML.

A table has one cell for every row and column. A cell is the text that people read; for pages it may
also have a sort key, a shade, or a small drawing.
"""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import pandas as pd
from rich.cells import cell_len

from augury.reporting.numbers import MISSING, Kind, interval, number
from augury.reporting.styles import Style

WIDTH = 200
"""Characters of a line without a terminal."""
LATEX_HEAD = "% \\usepackage{booktabs}\n"
SYMBOLS = {"×": "times", "±": "pm", "∪": "cup", "α": "alpha", "β": "beta", "τ": "tau"}
SYMBOLS |= {"ε": "varepsilon", "λ": "lambda", "Θ": "Theta", "−": "-"}
"""What is a formula in LaTeX; pandas escapes what LaTeX reads as commands."""
Columns = Mapping[str, tuple[str, Kind]]
"""The columns of a table that shows a frame: title -> column of the frame, kind of its numbers."""
MINUS = re.compile(r"(?<![\w.])-(?=\d)")


@dataclass(frozen=True)
class Cell:
    """One cell of a table."""

    text: str
    order: float | str | None = None
    """The key that a page sorts the column by; cells without it come last."""
    shade: float | None = None
    """The colour behind the text, from -1, worst, to 1, best."""
    hint: str = ""
    """The full text, shown on demand."""
    code: bool = False


@dataclass(frozen=True)
class Row:
    """The cells of one row, the first of which names it."""

    cells: tuple[Cell, ...]
    style: Style | None = None
    """The style of the row's system in charts."""
    faint: bool = False


@dataclass(frozen=True)
class Table:
    """Columns, rows, and notes that explain the numbers."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    kind: Literal["numbers", "words"] = "numbers"
    """On pages, tables of numbers can be sorted and filtered."""
    parts: tuple[int, ...] = ()
    """The columns at which a narrow terminal breaks the table, with the names repeated."""

    def lines(self) -> list[list[str]]:
        """Return the texts of the header and of all rows."""
        return [list(self.columns), *([cell.text for cell in row.cells] for row in self.rows)]


def cell(value: float | None, kind: Kind = "score", text: str = "") -> Cell:
    """Return a cell with a number, as `text` has it where given, sorted by its value if finite."""
    order = value if value is not None and math.isfinite(value) else None
    return Cell(text or number(value, kind), order)


def record_cells(record: Mapping[str, Any], columns: Columns) -> list[Cell]:
    """Return the cells of a record of a frame; dashes for what it has not."""
    return [
        cell(record.get(name), text=record_text(record, name, kind))
        for name, kind in columns.values()
    ]


def record_text(record: Mapping[str, Any], name: str, kind: Kind) -> str:
    """Return a number of a record of a frame, with its interval where the record has its ends,
    `NAME_low` and `NAME_high` (of `value`: `low` and `high`); a difference with its `mark`."""
    prefix = "" if name == "value" else f"{name}_"
    low, high = record.get(f"{prefix}low"), record.get(f"{prefix}high")
    mark = record.get("mark", "") if name == "difference" else ""
    return interval(record.get(name), low, high, kind, mark)


def row(cells: Iterable[object], **options: Any) -> Row:
    """Return a row from cells and their texts, a dash for None; `options` are further fields of
    `Row`."""
    return Row(tuple(map(_cell, cells)), **options)


def _cell(value: object) -> Cell:
    if isinstance(value, Cell):
        return value
    return Cell(MISSING) if value is None else Cell(str(value), str(value) or None)


def table(columns: Sequence[str], rows: Iterable[Row | Sequence[object]], **options: Any) -> Table:
    """Return a table from rows, or from their texts and cells; `options` are further fields of
    `Table`."""
    lines = (line if isinstance(line, Row) else row(line) for line in rows)
    return Table(tuple(columns), tuple(lines), **options)


def records(rows: Sequence[Mapping[str, object]], **options: Any) -> Table:
    """Return a table from rows that map the same columns to their texts and cells."""
    return table([*rows[0]], [[*cells.values()] for cells in rows], **options)


def plain_text(shown: Table) -> str:
    """Return a table with its notes as plain lines, fitted to the terminal if there is one."""
    lines, width = shown.lines(), shutil.get_terminal_size((WIDTH, 50)).columns
    body = _aligned(lines)
    if shown.parts and cell_len(body[0]) > width:
        body = []
        for start, end in pairwise([1, *shown.parts, len(shown.columns)]):
            part = _aligned([[line[0], *line[start:end]] for line in lines])
            body += ["", *part] if body else part
    head, notes = [shown.title] if shown.title else [], ["", *shown.notes] if shown.notes else []
    return "\n".join(line.rstrip() for line in (*head, *body, *notes))


def _aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Return lines in columns, the first column left-aligned, with a rule below the header."""
    first, *others = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    rows = []
    for name, *cells in lines:
        padded = [name + " " * (first - cell_len(name))]
        padded += [
            " " * (width - cell_len(cell)) + cell for cell, width in zip(cells, others, strict=True)
        ]
        rows.append("   ".join(padded))
    return [rows[0], "─" * cell_len(rows[0]), *rows[1:]]


def markdown(shown: Table) -> str:
    """Return a table with its notes as GitHub's Markdown."""
    header, *rows = shown.lines()
    lines = [f"### {shown.title}", ""] if shown.title else []
    for cells in [header, ["---", *("---:" for _ in header[1:])], *rows]:
        # A bar would be the edge of a cell, a star emphasis, and a name in angles a tag.
        escaped = [re.sub(r"([|*]|<(?=\w))", r"\\\1", cell) for cell in cells]
        lines.append(f"| {' | '.join(escaped)} |")
    lines += ["", *(f"- {note}" for note in shown.notes)] if shown.notes else []
    return "\n".join([*lines, ""])


def latex(shown: Table) -> str:
    """Return a table in LaTeX for the package booktabs, with title and notes as comments."""
    header, *rows = shown.lines()
    styler = pd.DataFrame(rows, columns=header).style.hide(axis="index").format(escape="latex")
    styler = styler.format_index(escape="latex", axis="columns")
    text: str = styler.to_latex(hrules=True, column_format="l" + "r" * (len(header) - 1))
    text = re.sub(MINUS, "$-$", text).replace("–", "--")
    # The braces keep LaTeX from taking a name in brackets for an argument of the line break before.
    text = re.sub(r"^\[", "{}[", text, flags=re.MULTILINE)
    for symbol, name in SYMBOLS.items():
        text = text.replace(symbol, f"$\\{name}$" if name.isalpha() else f"${name}$")
    comments = [f"% {line}\n" for line in (shown.title, *shown.notes) if line]
    return "".join([*comments, text])


def plain_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as plain values by column, None for what is missing."""
    known = frame.astype(object).where(frame.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in known.to_dict("records")]
