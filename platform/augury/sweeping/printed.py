"""The tables of a paper as they are printed, read from the one file that holds them.

The file is UTF-8 text: one block for every table, an empty line between blocks, lines that begin with `#` are comments.
The first line of a block is the table's name, the second its header, and every further one a row; cells are separated
by tabs and nothing is quoted. An empty cell is none in print, and `-` a printed dash. The columns of a table:

- `row`: the number of the row, from 1;
- `name`: as printed; `label`: what the row is called here, where its printed name is not unique;
- `section`: the group of rows that it stands in;
- `marks`: `column=mark` pairs, and `bold`: columns, both joined by `;`;
- all others are columns of the printed table.

A table of which nothing but notes can be read has a header alone.

The block `notes` says what must be known of the values, such as where the paper contradicts itself. Its columns:
`table`; `row`, a number, `header` or `all`; `column`; `as_read` and `written`, which differ where the file corrects;
`kind`; `why`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from augury.core.errors import UserError, unknown

NOTES = "notes"
ABOUT = ("row", "name", "label", "section", "marks", "bold")
"""The columns that describe a row, if there are such; the others are printed."""
ABSENT = ("", "-")
WHOLE = ("header", "all")
"""Entries of a note on the whole table in place of a row."""


@dataclass(frozen=True)
class Note:
    """A caution on a value, a row or the table."""

    row: str
    """The row's label; empty where the note is on the whole table."""
    column: str
    """One printed column or several, in words; empty where the note is on all of them."""
    kind: str
    text: str

    def to_dict(self) -> dict[str, str]:
        """Return the note on a row as JSON-like values."""
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
    """Printed column -> text, as printed."""
    marks: Mapping[str, str]
    """Printed column, or `name` -> mark."""
    bold: tuple[str, ...]
    values: Mapping[str, float]
    """Test set, or `mean` -> value; what is not printed is not in it."""

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON-like values."""
        return {
            "row": self.number,
            "printed": self.name,
            "section": self.section,
            "cells": {column: cell for column, cell in self.cells.items() if cell},
            "marks": dict(self.marks),
            "bold": list(self.bold),
        }


@dataclass(frozen=True)
class PrintedTable:
    """A printed table."""

    rows: Mapping[str, PrintedRow]
    """By label, in the order of the print."""
    notes: tuple[Note, ...] = ()


def read(path: Path, name: str, columns: Mapping[str, str]) -> PrintedTable:
    """Return one table of a paper's file.

    `columns` maps the printed columns that hold values to the test sets that they are of, or to `mean`. UserError for
    an unknown table, column or row of a note, a row with a cell too many or too few, a label that is not unique, and a
    value that is no number.
    """
    blocks = _blocks(path)
    if name not in blocks:
        raise unknown(f"table of {path.name}", name, blocks)
    lines, place = blocks[name], f"{path.name}, {name}"
    header = [column for column in next(iter(lines), {}) if column not in ABOUT]
    for column in columns:
        if lines and column not in header:
            raise unknown(f"column of {name} in {path.name}", column, header)
    rows: dict[str, PrintedRow] = {}
    for line in lines:
        row = _row(line, columns, place)
        if row.label in rows:
            raise UserError(f"{place}: two rows are called '{row.label}': give one of them another label")
        rows[row.label] = row
    labels = {**dict.fromkeys(WHOLE, ""), **{str(row.number): row.label for row in rows.values()}}
    notes = [_note(note, labels, place) for note in blocks.get(NOTES, []) if note["table"] == name]
    return PrintedTable(rows, tuple(notes))


def of_values(values: Mapping[str, Mapping[str, float | None]]) -> PrintedTable:
    """Return the table of rows (label -> test set or `mean` -> value) that are written in code; None is not printed."""
    rows = {}
    for number, (label, cells) in enumerate(values.items(), 1):
        known = {column: value for column, value in cells.items() if value is not None}
        texts = {column: f"{value:g}" for column, value in known.items()}
        rows[label] = PrintedRow(number, label, label, "", texts, {}, (), known)
    return PrintedTable(rows)


def _blocks(path: Path) -> dict[str, list[dict[str, str]]]:
    """Return the lines of every block as column -> cell."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    blocks: dict[str, list[dict[str, str]]] = {}
    for filled, (name, *rest) in itertools.groupby(lines, key=bool):
        if filled:
            if name in blocks or "\t" in name or not rest:
                raise UserError(
                    f"{path.name}: a table begins with '{name}': after an empty line give a name that no "
                    "other table has, and below it a header"
                )
            blocks[name] = list(_records(f"{path.name}, {name}", rest))
    strange = next((line for line in blocks.get(NOTES, []) if line["table"] not in blocks), None)
    if strange:
        raise unknown(f"table in the notes of {path.name}", strange["table"], blocks)
    return blocks


def _records(place: str, lines: Sequence[str]) -> Iterator[dict[str, str]]:
    header, *rows = [line.split("\t") for line in lines]
    for number, cells in enumerate(rows, 1):
        if len(cells) != len(header):
            raise UserError(f"{place}, line {number}: {len(cells)} cells, and the header has {len(header)}")
        yield dict(zip(header, cells, strict=True))


def _row(line: Mapping[str, str], columns: Mapping[str, str], place: str) -> PrintedRow:
    cells = {column: cell for column, cell in line.items() if column not in ABOUT}
    return PrintedRow(
        number=int(line["row"]),
        label=line.get("label") or line["name"],
        name=line["name"],
        section=line.get("section", ""),
        cells=cells,
        marks=dict(pair.split("=", 1) for pair in line.get("marks", "").split(";") if pair),
        bold=tuple(column for column in line.get("bold", "").split(";") if column),
        values={
            columns[column]: _number(cell, f"{place}, row {line['row']}, column {column}")
            for column, cell in cells.items()
            if column in columns and cell not in ABSENT
        },
    )


def _number(cell: str, place: str) -> float:
    thousands = 1000.0 if cell.endswith("k") else 1.0
    try:
        return float(cell.removesuffix("k")) * thousands
    except ValueError:
        raise UserError(f"{place}: '{cell}' is no number: leave the cell empty where nothing is printed") from None


def _note(line: Mapping[str, str], labels: Mapping[str, str], place: str) -> Note:
    if line["row"] not in labels:
        raise unknown(f"row in the notes of {place}", line["row"], labels)
    corrected = line["as_read"] and line["written"] and line["as_read"] != line["written"]
    text = f"'{line['as_read']}' is read as '{line['written']}': {line['why']}" if corrected else line["why"]
    column = "" if line["column"] == "all" else line["column"]
    return Note(labels[line["row"]], column, line["kind"], text)
