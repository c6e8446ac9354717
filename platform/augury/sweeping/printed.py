"""Read the printed tables of a paper from a TSV file.

The file is UTF-8 text with one block per table; empty lines separate blocks, and lines that start
with `#` are comments. A block's first line is the table's name, the second its header, and every
further line a row; cells are separated by tabs and not quoted. An empty cell means nothing is
printed, `-` a printed dash. Columns of a table:

- `row`: the number of the row, from 1;
- `name`: the row's printed name; `label`: a unique name if the printed one is ambiguous;
- `section`: the group of rows it belongs to;
- `marks`: `column=mark` pairs, and `bold`: columns, both separated by `;`;
- all others are columns of the printed table.

A table without legible values consists of a header only.

The block `notes` has remarks on values, such as contradictions in the paper. Its columns: `table`;
`row`, a number, `header` or `all`; `column`; `as_read` and `written`, which differ if the file
corrects the print; `kind`; `why`. The kind `literature` says that a value is another paper's, so
that it compares with nothing.

Another file has what is not as in the paper, as one block without a name (see `deviations`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from augury.core.errors import UserError, unknown

NOTES, LITERATURE = "notes", "literature"
DEVIATIONS = ("scales", "tables", "deviation")
"""The columns of the file of deviations."""
ABOUT = ("row", "name", "label", "section", "marks", "bold")
"""Columns that describe a row; all others are printed."""
ABSENT = ("", "-")
WHOLE = ("header", "all")
"""Values of `row` for notes on the whole table."""


@dataclass(frozen=True)
class Note:
    """A note on a value, a row or the table."""

    row: str
    """The row's label; empty for the whole table."""
    column: str
    """One or several printed columns as text; empty for all columns."""
    kind: str
    text: str

    def to_dict(self) -> dict[str, str]:
        """Return the note without its row as JSON-like values."""
        return {"column": self.column, "kind": self.kind, "text": self.text}

    def __str__(self) -> str:
        subject = ", ".join(part for part in (self.row, self.column) if part)
        return f"{subject}: {self.text}" if subject else self.text


@dataclass(frozen=True)
class PrintedRow:
    """A row of a printed table."""

    number: int
    label: str
    """Unique in the table."""
    name: str
    """As printed."""
    section: str
    cells: Mapping[str, str]
    """Printed column -> printed text."""
    marks: Mapping[str, str]
    """Printed column or `name` -> mark."""
    bold: tuple[str, ...]
    values: Mapping[str, float]
    """Test set or `mean` -> value, for the values that are printed."""
    texts: Mapping[str, str]
    """Test set or `mean` -> the same as printed, such as `37.60` or `20k`."""
    borrowed: frozenset[str] = frozenset()
    """The test sets, or `mean`, whose value is another paper's."""

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-like values."""
        return {
            "row": self.number,
            "printed": self.name,
            "section": self.section,
            "cells": {column: cell for column, cell in self.cells.items() if cell},
            "marks": dict(self.marks),
            "bold": list(self.bold),
            "borrowed": sorted(self.borrowed),
        }


@dataclass(frozen=True)
class PrintedTable:
    """A printed table."""

    rows: Mapping[str, PrintedRow]
    """By label, in printed order."""
    notes: tuple[Note, ...] = ()


def read(path: Path, name: str, columns: Mapping[str, str]) -> PrintedTable:
    """Return a table of a paper's file.

    `columns` maps the printed columns with values to test sets or `mean`. Raises UserError for an
    unknown table, column or row of a note, a row with too many or too few cells, a duplicate label,
    and a value that is not a number.
    """
    blocks = _blocks(path)
    if name not in blocks:
        raise unknown(f"table of {path.name}", name, blocks)
    lines, location = blocks[name], f"{path.name}, {name}"
    header = [column for column in next(iter(lines), {}) if column not in ABOUT]
    for column in columns:
        if lines and column not in header:
            raise unknown(f"column of {name} in {path.name}", column, header)
    rows: dict[str, PrintedRow] = {}
    for line in lines:
        row = _row(line, columns, location)
        if row.label in rows:
            raise UserError(
                f"{location}: two rows are called '{row.label}': give one of them another label"
            )
        rows[row.label] = row
    labels = {**dict.fromkeys(WHOLE, ""), **{str(row.number): row.label for row in rows.values()}}
    notes = [
        _note(note, labels, location) for note in blocks.get(NOTES, []) if note["table"] == name
    ]
    borrowed = {(note.row, note.column) for note in notes if note.kind == LITERATURE}
    for label, row in rows.items():
        of_others = [test for column, test in columns.items() if (label, column) in borrowed]
        rows[label] = replace(row, borrowed=frozenset(of_others))
    return PrintedTable(rows, tuple(notes))


def deviations(path: Path, table: str) -> dict[str, tuple[str, ...]]:
    """Return scale -> what is not as in the paper in one of its tables.

    The columns of the file are `scales` and `tables`, names separated by spaces, or no table for
    all of them, and `deviation`.
    """
    header, *rows = _lines(path)
    if header.split("\t") != list(DEVIATIONS):
        raise UserError(
            f"{path.name}: the first line must name the columns {', '.join(DEVIATIONS)}, "
            f"separated by tabs, not be '{header}'"
        )
    by_scale: dict[str, tuple[str, ...]] = {}
    for line in _records(path.name, [header, *rows]):
        if not line["tables"] or table in line["tables"].split():
            for scale in line["scales"].split():
                by_scale[scale] = (*by_scale.get(scale, ()), line["deviation"])
    return by_scale


def from_values(values: Mapping[str, Mapping[str, float | None]]) -> PrintedTable:
    """Return the table of a mapping label -> test set or `mean` -> value; None means not
    printed."""
    rows = {}
    for number, (label, cells) in enumerate(values.items(), 1):
        printed = {column: value for column, value in cells.items() if value is not None}
        texts = {column: str(value) for column, value in printed.items()}
        rows[label] = PrintedRow(number, label, label, "", texts, {}, (), printed, texts)
    return PrintedTable(rows)


def _blocks(path: Path) -> dict[str, list[dict[str, str]]]:
    """Return the rows of every block as column -> cell."""
    blocks: dict[str, list[dict[str, str]]] = {}
    for nonempty, (name, *rest) in itertools.groupby(_lines(path), key=bool):
        if nonempty:
            if name in blocks or "\t" in name or not rest:
                raise UserError(
                    f"{path.name}: a block starts with '{name}': after an empty line give a "
                    "unique table name, and below it a header"
                )
            blocks[name] = list(_records(f"{path.name}, {name}", rest))
    for note in blocks.get(NOTES, []):
        if note["table"] not in blocks:
            raise unknown(f"table in the notes of {path.name}", note["table"], blocks)
    return blocks


def _lines(path: Path) -> list[str]:
    """Return the lines of a file without its comments."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def _records(location: str, lines: Sequence[str]) -> Iterator[dict[str, str]]:
    header, *rows = [line.split("\t") for line in lines]
    for number, cells in enumerate(rows, 1):
        if len(cells) != len(header):
            raise UserError(
                f"{location}, line {number} has {len(cells)} cells, but the header has "
                f"{len(header)}: separate cells by single tabs"
            )
        yield dict(zip(header, cells, strict=True))


def _row(line: Mapping[str, str], columns: Mapping[str, str], location: str) -> PrintedRow:
    cells = {column: cell for column, cell in line.items() if column not in ABOUT}
    compared = {
        column: cell for column, cell in cells.items() if column in columns and cell not in ABSENT
    }
    return PrintedRow(
        number=int(line["row"]),
        label=line.get("label") or line["name"],
        name=line["name"],
        section=line.get("section", ""),
        cells=cells,
        marks=dict(pair.split("=", 1) for pair in line.get("marks", "").split(";") if pair),
        bold=tuple(column for column in line.get("bold", "").split(";") if column),
        values={
            columns[column]: _number(cell, f"{location}, row {line['row']}, column {column}")
            for column, cell in compared.items()
        },
        texts={columns[column]: cell for column, cell in compared.items()},
    )


def _number(cell: str, location: str) -> float:
    factor = 1000.0 if cell.endswith("k") else 1.0
    try:
        return float(cell.removesuffix("k")) * factor
    except ValueError:
        raise UserError(
            f"{location}: '{cell}' is not a number: leave the cell empty if nothing is printed"
        ) from None


def _note(line: Mapping[str, str], labels: Mapping[str, str], location: str) -> Note:
    if line["row"] not in labels:
        raise unknown(f"row in the notes of {location}", line["row"], labels)
    corrected = line["as_read"] and line["written"] and line["as_read"] != line["written"]
    text = (
        f"'{line['as_read']}' is read as '{line['written']}': {line['why']}"
        if corrected
        else line["why"]
    )
    column = "" if line["column"] == "all" else line["column"]
    return Note(labels[line["row"]], column, line["kind"], text)
