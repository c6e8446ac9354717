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
from augury.sweeping import space as spaces
from augury.sweeping.declarations import TABLES, PaperTable, at_scale, load_table
from augury.sweeping.space import Space

FULL_SCALES = ("paper", "released_code")
"""The scales with a paper's corpora, whose values compare with the printed ones."""
UNLIKE = (
    "is not the paper's: published values are shown as literature, and do not compare with what is "
    "measured here"
)
ABSENT = ("", "-")
UNITS = {"k": 1e3, "M": 1e6, "%": 1.0}
Blocks = Mapping[str, list[dict[str, str]]]


class Printed(NamedTuple):
    """A value as the paper prints it."""

    published: float
    text: str
    """Such as `37.60` or `20k`."""
    borrowed: bool = False
    """Whether it is another paper's."""


Values = dict[str, dict[str, Printed]]
Marks = dict[str, Mapping[str, str]]


@dataclass(frozen=True)
class Published:
    """A paper's table at a scale."""

    name: str
    """`xnli_adversarial/table2`, or the path of a file."""
    declared: PaperTable
    space: Space
    printed: Mapping[str, Mapping[str, Printed]]
    """Row -> column, a test set, a quantity or `mean` -> its value, in printed order."""
    remarks: tuple[str, ...]
    """What there is to say of the print, such as contradictions within it."""
    marks: Mapping[str, Mapping[str, str]]
    """Row -> the `mark` of its printed mean: it differs from the row `against` with a p below
    `p`."""
    deviations: tuple[str, ...]
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
    def source(self) -> str:
        """Return the table, paper and scale."""
        return f"{self.declared.where} of {self.declared.paper}, at scale {self.space.scale}"

    @property
    def warnings(self) -> list[str]:
        """Return the warning where published values do not compare."""
        return [] if self.comparable else [f"scale {self.space.scale} {UNLIKE}"]

    def to_dict(self) -> dict[str, Any]:
        """Return table, paper, scale and remarks as JSON-like values."""
        return {
            "table": self.name,
            "paper": self.declared.paper,
            "where": self.declared.where,
            "question": self.space.question,
            "scale": self.space.scale,
            "comparable": self.comparable,
            "tolerance": self.declared.tolerance,
            "deviations": list(self.deviations),
            "remarks": list(self.remarks),
        }


def find(name: str, scale: str | None = None) -> Published:
    """Return the table `<paper>/<table>`, or that of a file, at a scale; UserError if there is none
    or it is invalid."""
    if not name.endswith(".py") and name not in TABLES:
        raise unknown("table", name, TABLES.names())
    with named_by_user(name):
        declared = load_table(name)
    space = spaces.resolve(declared, name, scale)
    scale = space.scale
    printed, marks, remarks, deviations = _printed(declared, PurePath(name).stem, scale)
    made_of, reasons = _made_of(declared, scale)
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
        remarks=tuple(remarks),
        marks=marks,
        deviations=deviations.get(scale, deviations.get(scale.partition("/")[0], ())),
        made_of=made_of,
        reasons={row: why for row, why in reasons.items() if row not in space.rows},
    )


def _printed(
    declared: PaperTable, table: str, scale: str
) -> tuple[Values, Marks, list[str], dict[str, tuple[str, ...]]]:
    """Return what the paper prints in a table, its values and marks (see `read`), remarks on it,
    and by scale what is not as in the paper."""
    deviations, remarks = dict(declared.deviations), list[str]()
    printed, marks = Values(), Marks()
    if isinstance(declared.published, Path):
        blocks = read_blocks(declared.published)
        printed, marks = read(blocks, table, at_scale(declared.columns, scale))
        labels = {line["row"]: label(line) for line in blocks[table]}
        for note in blocks.get("notes", ()):
            if note["table"] == table:
                remarks.append(f"{declared.where}, {_remark(note, labels)}")
        for line in blocks.get("deviations", ()):
            if not line["tables"] or table in line["tables"].split():
                for scale_name in line["scales"].split():
                    deviations[scale_name] = (*deviations.get(scale_name, ()), line["deviation"])
    else:
        for row, cells in at_scale(declared.published, scale).items():
            known = {column: value for column, value in cells.items() if value is not None}
            printed[row] = {column: Printed(value, str(value)) for column, value in known.items()}
    return printed, marks, remarks, deviations


def _made_of(declared: PaperTable, scale: str) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Return the rows that others are made of, by these, and how."""
    made_of, reasons = dict[str, tuple[str, ...]](), dict[str, str]()
    for row, (better, other) in declared.improvements.items():
        made_of[row] = better, other
        reasons[row] = f"computed: relative improvement of '{better}' over '{other}' in per cent"
    for row, (other, metric) in at_scale(declared.rescored, scale).items():
        made_of[row] = (other,)
        reasons[row] = f"the outputs of '{other}', scored by {title(metric)}"
    for row, by_column in at_scale(declared.assembled, scale).items():
        made_of[row] = tuple(dict.fromkeys(by_column.values()))
        reasons[row] = f"a system for each column: {', '.join(made_of[row])}"
    return made_of, reasons


def read_blocks(file: Path) -> Blocks:
    """Return the blocks of a paper's file by name, each row as column -> cell; UserError for a row
    with too many or too few cells."""
    lines = file.read_text(encoding="utf-8").splitlines()
    content = "\n".join(line for line in lines if not line.startswith("#")).strip("\n")
    blocks: dict[str, list[dict[str, str]]] = {}
    for block in re.split(r"\n{2,}", content):
        name, header, *rows = block.split("\n")
        columns = header.split("\t")
        for number, row in enumerate(rows, 1):
            if (cells := row.count("\t") + 1) != len(columns):
                raise UserError(
                    f"{file.name}, {name}, line {number} has {cells} cells, but the header "
                    f"has {len(columns)}: separate cells by single tabs"
                )
        blocks[name] = [dict(zip(columns, row.split("\t"), strict=True)) for row in rows]
    return blocks


def read(blocks: Blocks, table: str, columns: Mapping[str, str]) -> tuple[Values, Marks]:
    """Return the values of a table by row and column, and the marks of means that the file
    explains by row.

    `columns` are the printed columns with values, and what they are called here. UserError for an
    unknown table or column, a duplicate label, and a value that is not a number.
    """
    if table not in blocks:
        raise unknown("table of the paper's file", table, blocks)
    lines = blocks[table]
    for column in columns:
        if lines and column not in lines[0]:
            raise unknown(f"column of {table}", column, lines[0])
    of_table = [line for name in ("notes", "marks") for line in blocks.get(name, ())]
    of_table = [line for line in of_table if line["table"] == table]
    borrowed = [line for line in of_table if line.get("kind") == "literature"]
    of_others = {(line["row"], line["column"]) for line in borrowed}
    known = {line["mark"]: line for line in of_table if "mark" in line}
    rows, marks = Values(), Marks()
    for line in lines:
        if (row := label(line)) in rows:
            raise UserError(f"{table}: two rows are called '{row}': give one of them another label")
        number, rows[row] = line["row"], {}
        for column, name in columns.items():
            if (text := line[column]) not in ABSENT:
                value = _number(text, f"{table}, row {number}, column {column}")
                rows[row][name] = Printed(value, text, (number, column) in of_others)
        for pair in line.get("marks", "").split(";"):
            column, _, mark = pair.partition("=")
            if columns.get(column) == "mean" and mark in known:
                marks[row] = known[mark]
    return rows, marks


def label(line: Mapping[str, str]) -> str:
    """Return the unique name of a row."""
    return line.get("label") or line["name"]


def _number(text: str, where: str) -> float:
    try:
        return float(text.rstrip("".join(UNITS))) * UNITS.get(text[-1], 1.0)
    except ValueError:
        raise UserError(
            f"{where}: '{text}' is not a number: leave the cell empty if nothing is printed"
        ) from None


def _remark(note: Mapping[str, str], labels: Mapping[str, str]) -> str:
    """Return a note on a value, a row or, without one, the table."""
    rows = {**dict.fromkeys(("header", "all"), ""), **labels}
    if note["row"] not in rows:
        raise unknown(f"row in the notes of {note['table']}", note["row"], rows)
    corrected = note["as_read"] and note["written"] and note["as_read"] != note["written"]
    column = "" if note["column"] == "all" else note["column"]
    subject = ", ".join(filter(None, (rows[note["row"]], column)))
    said = [f"'{note['as_read']}' is read as '{note['written']}'"] if corrected else []
    return ": ".join([*([subject] if subject else []), *said, note["why"]])
