"""A paper's table at one of its scales: rows as configurations, and what the paper prints.

What a paper prints is a TSV file, UTF-8 text with one block a table; empty lines separate blocks,
and lines that start with `#` are comments. A block's first line is the table's name, the second its
header, and every further line a row; cells are separated by tabs and not quoted. An empty cell
means that nothing is printed, `-` a printed dash. Columns of a table:

- `row`: the number of the row, from 1;
- `name`: the row's printed name; `label`: a unique name if the printed one is ambiguous;
- `section`: the group of rows it belongs to;
- `marks`: `column=mark` pairs, and `bold`: columns, both separated by `;`;
- all others are columns of the printed table.

A table without legible values consists of a header only. Other blocks:

- `in_text`: `name` and `value` of numbers that the text states, and `where`;
- `marks`: of a `table`, the row that a `mark` compares with (`against`), and the `p` that it stands
  below;
- `notes`: remarks on values, such as contradictions in the paper: `table`; `row`, a number,
  `header` or `all`; `column`; `as_read` and `written`, which differ if the file corrects the print;
  `kind`, of which `literature` says that a value is another paper's, so that it compares with
  nothing; `why`;
- `deviations`: what is not as in the paper: `scales` and `tables`, names separated by spaces, or no
  table for all of them; `deviation`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from augury.core.errors import UserError, unknown
from augury.core.plugin_files import named_by_user
from augury.scoring.registry import title
from augury.sweeping import declarations
from augury.sweeping import space as spaces
from augury.sweeping.declarations import PaperTable, at_scale
from augury.sweeping.space import Space

FULL_SCALES = ("paper", "released_code")
"""The scales with a paper's corpora, whose values compare with the printed ones."""
ABSENT = ("", "-")
UNITS = {"k": 1e3, "M": 1e6, "%": 1.0}
Blocks = Mapping[str, list[dict[str, str]]]


class Note(NamedTuple):
    """A note on a value, a row (a label) or, without one, the table."""

    row: str
    column: str
    """One or several printed columns as text; empty for all columns."""
    kind: str
    text: str

    def __str__(self) -> str:
        subject = ", ".join(part for part in (self.row, self.column) if part)
        return f"{subject}: {self.text}" if subject else self.text


class Mark(NamedTuple):
    """A printed mark: a row differs from another with a p below this one."""

    mark: str
    against: str
    p: str


class PrintedRow(NamedTuple):
    """A row as the paper prints it; columns are test sets, quantities or `mean`."""

    cells: Mapping[str, str]
    """Column of the file -> its text."""
    texts: Mapping[str, str]
    """Column -> the value as it is printed, such as `37.60` or `20k`."""
    values: Mapping[str, float]
    borrowed: tuple[str, ...] = ()
    """The columns with another paper's value."""


@dataclass(frozen=True)
class Published:
    """A paper's table at a scale; fields without a docstring are those of `PaperTable`."""

    name: str
    """`xnli_adversarial/table2`, or the path of a file."""
    declared: PaperTable
    space: Space
    printed: Mapping[str, PrintedRow]
    """Label -> row, in printed order."""
    notes: tuple[Note, ...]
    marks: Mapping[str, Mark]
    """Row -> the mark of its printed value that stands for the mean."""
    deviations: tuple[str, ...]
    rescored: Mapping[str, tuple[str, str]]
    assembled: Mapping[str, Mapping[str, str]]
    made_of: Mapping[str, tuple[str, ...]]
    """Row that is computed -> the rows that are run for it."""
    reasons: Mapping[str, str]
    """Row that is not run -> why."""

    @property
    def comparable(self) -> bool:
        """Return whether the scale is that of the paper, or of its released code."""
        return self.space.scale.partition("/")[0] in FULL_SCALES

    @property
    def rows(self) -> list[str]:
        """Return all rows: the printed ones in printed order, then those that are only run."""
        return list(dict.fromkeys([*self.printed, *self.space.rows]))

    @property
    def heading(self) -> list[str]:
        """Return the table, paper and scale and, where published values do not compare, a
        caution."""
        source = f"{self.declared.where} of {self.declared.paper}, at scale {self.space.scale}"
        if self.comparable:
            return [source]
        return [
            source,
            f"scale {self.space.scale} is not the paper's: published values are shown as "
            "literature, and do not compare with what is measured here",
        ]

    @property
    def remarks(self) -> list[str]:
        """Return all remarks on what the paper prints, such as contradictions within it."""
        return [f"{self.declared.where}, {note}" for note in self.notes]

    def values(self, row: str) -> Mapping[str, float]:
        """Return the printed values of a row by column."""
        return self.printed[row].values if row in self.printed else {}

    def to_dict(self) -> dict[str, Any]:
        """Return table, paper, scale and remarks as JSON-like values."""
        return {
            "table": self.name,
            "paper": self.declared.paper,
            "where": self.declared.where,
            "question": self.space.question,
            "scale": self.space.scale,
            "comparable": self.comparable,
            "reference": self.space.reference,
            "tolerance": self.declared.tolerance,
            "deviations": list(self.deviations),
            "notes": self.remarks,
        }

    def row_dict(self, name: str) -> dict[str, Any]:
        """Return what is printed of a row as JSON-like values."""
        cells = self.printed[name].cells if name in self.printed else {}
        return {
            "name": name,
            "published": self.values(name),
            "printed": {column: text for column, text in cells.items() if text},
            "notes": [note._asdict() for note in self.notes if note.row == name],
        }


def find(name: str, scale: str | None = None) -> Published:
    """Return the table `<paper>/<table>`, or that of a file, at a scale; UserError if there is none
    or it is invalid."""
    if not name.endswith(".py") and name not in declarations.tables():
        raise unknown("table", name, declarations.tables())
    with named_by_user(name):
        declared = declarations.load_table(name)
    space = spaces.resolve(declared, name, scale)
    if not isinstance(space.reference, str):
        raise UserError(
            f"table '{name}': the reference must be one of its rows, {', '.join(space.rows)}"
        )
    scale, table = space.scale, PurePath(name).stem
    columns = at_scale(declared.columns, scale)
    deviations, notes = dict(declared.deviations), list[Note]()
    printed, marks = dict[str, PrintedRow](), dict[str, Mark]()
    if isinstance(declared.published, Path):
        blocks = read_blocks(declared.published)
        printed, notes = read(blocks, table, columns)
        marks = _marks(blocks, table, printed, columns)
        for line in blocks.get("deviations", ()):
            if not line["tables"] or table in line["tables"].split():
                for of in line["scales"].split():
                    deviations[of] = (*deviations.get(of, ()), line["deviation"])
    else:
        for label, cells in at_scale(declared.published, scale).items():
            values = {column: value for column, value in cells.items() if value is not None}
            texts = {column: str(value) for column, value in values.items()}
            printed[label] = PrintedRow(texts, texts, values)
    rescored = at_scale(declared.rescored, scale)
    assembled = at_scale(declared.assembled, scale)
    made_of, reasons = dict[str, tuple[str, ...]](), dict[str, str]()
    for row, (better, other) in declared.improvements.items():
        made_of[row] = better, other
        reasons[row] = f"computed: relative improvement of '{better}' over '{other}' in per cent"
    for row, (of, metric) in rescored.items():
        made_of[row] = (of,)
        reasons[row] = f"the outputs of '{of}', scored by {title(metric)}"
    for row, by_column in assembled.items():
        made_of[row] = tuple(dict.fromkeys(by_column.values()))
        reasons[row] = f"a system for each column: {', '.join(made_of[row])}"
    for row, parts in made_of.items():
        for part in parts:
            if part not in space.rows:
                raise unknown(f"row that '{row}' of table '{name}' is made of", part, space.rows)
    declared_reasons = declared.unavailable
    if isinstance(declared_reasons, str):
        declared_reasons = dict.fromkeys(printed, declared_reasons)
    reasons = {**at_scale(declared_reasons, scale), **reasons}
    for row in printed:
        if row not in {*space.rows, *reasons}:
            raise UserError(
                f"table '{name}' has published values for '{row}', which is not in rows: add the "
                "row, or give the reason in 'unavailable'"
            )
    return Published(
        name=name,
        declared=declared,
        space=space,
        printed=printed,
        notes=tuple(notes),
        marks=marks,
        deviations=deviations.get(scale, deviations.get(scale.partition("/")[0], ())),
        rescored=rescored,
        assembled=assembled,
        made_of=made_of,
        reasons={row: why for row, why in reasons.items() if row not in space.rows},
    )


def read_blocks(file: Path) -> Blocks:
    """Return the blocks of a paper's file by name, each row as column -> cell; UserError for one
    without a name or a header, and for a row with too many or too few cells."""
    lines = file.read_text(encoding="utf-8").splitlines()
    content = "\n".join(line for line in lines if not line.startswith("#")).strip("\n")
    blocks: dict[str, list[dict[str, str]]] = {}
    for block in re.split(r"\n{2,}", content):
        name, *table = block.split("\n")
        if name in blocks or "\t" in name or not table:
            raise UserError(
                f"{file.name}: a block starts with '{name}': after an empty line give a unique "
                "table name, and below it a header"
            )
        header, *rows = [line.split("\t") for line in table]
        for number, cells in enumerate(rows, 1):
            if len(cells) != len(header):
                raise UserError(
                    f"{file.name}, {name}, line {number} has {len(cells)} cells, but the header "
                    f"has {len(header)}: separate cells by single tabs"
                )
        blocks[name] = [dict(zip(header, cells, strict=True)) for cells in rows]
    return blocks


def read(
    blocks: Blocks, table: str, columns: Mapping[str, str]
) -> tuple[dict[str, PrintedRow], list[Note]]:
    """Return the rows of a table by label, and the notes on them.

    `columns` are the printed columns with values, and what they are called here. UserError for an
    unknown table, column or row of a note, a duplicate label, and a value that is not a number.
    """
    if table not in blocks:
        raise unknown("table of the paper's file", table, blocks)
    lines = blocks[table]
    for column in columns:
        if lines and column not in lines[0]:
            raise unknown(f"column of {table}", column, lines[0])
    labels = {line["row"]: line.get("label") or line["name"] for line in lines}
    notes = [_note(note, labels) for note in blocks.get("notes", ()) if note["table"] == table]
    of_others = {(note.row, note.column) for note in notes if note.kind == "literature"}
    rows: dict[str, PrintedRow] = {}
    for line in lines:
        label = labels[line["row"]]
        if label in rows:
            raise UserError(
                f"{table}: two rows are called '{label}': give one of them another label"
            )
        texts = {
            name: line[column] for column, name in columns.items() if line[column] not in ABSENT
        }
        where = f"{table}, row {line['row']}, column"
        values = {
            name: _number(line[column], f"{where} {column}")
            for column, name in columns.items()
            if name in texts
        }
        borrowed = [name for column, name in columns.items() if (label, column) in of_others]
        rows[label] = PrintedRow(line, texts, values, tuple(borrowed))
    return rows, notes


def _marks(
    blocks: Blocks, table: str, printed: Mapping[str, PrintedRow], columns: Mapping[str, str]
) -> dict[str, Mark]:
    """Return the mark that every row has on its mean, if the file says what it means."""
    known = {
        line["mark"]: Mark(line["mark"], line["against"], line["p"])
        for line in blocks.get("marks", ())
        if line["table"] == table
    }
    marks = {}
    for label, row in printed.items():
        for pair in row.cells.get("marks", "").split(";"):
            column, _, mark = pair.partition("=")
            if columns.get(column) == "mean" and mark in known:
                marks[label] = known[mark]
    return marks


def _number(text: str, where: str) -> float:
    try:
        return float(text.rstrip("".join(UNITS))) * UNITS.get(text[-1], 1.0)
    except ValueError:
        raise UserError(
            f"{where}: '{text}' is not a number: leave the cell empty if nothing is printed"
        ) from None


def _note(line: Mapping[str, str], labels: Mapping[str, str]) -> Note:
    rows = {**dict.fromkeys(("header", "all"), ""), **labels}
    if line["row"] not in rows:
        raise unknown(f"row in the notes of {line['table']}", line["row"], rows)
    corrected = line["as_read"] and line["written"] and line["as_read"] != line["written"]
    text = f"'{line['as_read']}' is read as '{line['written']}': " if corrected else ""
    column = "" if line["column"] == "all" else line["column"]
    return Note(rows[line["row"]], column, line["kind"], text + line["why"])
