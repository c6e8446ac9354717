"""The report of a paper's table: text, page, Markdown, LaTeX, CSV and JSON of printed and measured
values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from textwrap import shorten
from typing import Any

import pandas as pd

from augury.core.naming import counted
from augury.core.progress import duration
from augury.reporting.answer import answer
from augury.reporting.numbers import MISSING, number, spread
from augury.reporting.papers.reproduction import Reproduction
from augury.reporting.report import Code, Listing, Places, Report, section
from augury.reporting.results import MEAN
from augury.reporting.score_tables import COSTS, cost_columns, score_columns
from augury.reporting.sweeps.locations import locations, repeating
from augury.reporting.tables import Cell, Table, plain_records, record_cells, record_text, table

PART = " | "
"""Between table, line and column in the name of a quantity that stands in a table of its own."""
LONGEST = 200
"""The maximum number of characters of a reason in notes."""
Records = dict[str, dict[str, dict[str, Any]]]
"""Row -> column -> the record of the frame."""


def report(reproduction: Reproduction) -> Report:
    """Return the report of a table, as far as it is measured."""
    published, sweep, deciding = reproduction.table, reproduction.sweep, reproduction.deciding
    records, rows = records_of(reproduction), row_frame(reproduction)
    said = answer(deciding) if deciding else "Nothing is measured yet."
    notes = notes_on(reproduction)
    first = _scores(reproduction, records, notes)
    others = [*by_column(reproduction, records), *part_tables(records)]
    for_papers = [replace(first, notes=(*published.warnings, *notes)), *others]
    lists = {
        "Deviations from the paper": published.deviations,
        "Remarks on what is printed": published.remarks,
    }
    frame = rows.merge(reproduction.cells, on="row", how="left")
    frame.insert(0, "table", published.name)
    frame.insert(1, "scale", published.space.scale)
    return Report(
        title=f"{published.name} at scale {published.space.scale}",
        question=published.space.question,
        answer=said,
        power=deciding.power_text if deciding else "",
        notes=[*published.warnings, *(deciding.warnings if deciding else ())],
        facts={
            "paper": published.source,
            "seeds": ", ".join(map(str, sweep.seeds)),
            "training in all": duration(sweep.seconds),
        },
        sections=[
            section("Published and measured", first),
            *(section(other.title, other) for other in others),
            *(section(heading, Listing(lines)) for heading, lines in lists.items() if lines),
            section("Repeat it", Code(repeating(sweep))),
            section("Storage", Places(locations(sweep))),
        ],
        data={
            **published.to_dict(),
            "reference": reproduction.reference,
            "answer": said,
            "column": reproduction.column,
            "metric": deciding.metrics[0] if deciding else None,
            "seeds": list(sweep.seeds),
            "rows": [{**row, "cells": records[row["row"]]} for row in plain_records(rows)],
            "cost": {"train_seconds": sweep.seconds},
            "notes": notes,
            "sweep": sweep.folder.uri,
        },
        summary=[
            "\n".join([published.source, *published.warnings]),
            first,
            *others,
            f"cost: {duration(sweep.seconds)} of training in all\n{said}",
        ],
        tables=[
            replace(shown, title=f"{published.source}, {shown.title}".rstrip(", "))
            for shown in for_papers
        ],
        records=frame,
    )


def records_of(reproduction: Reproduction) -> Records:
    """Return the records of the frame by row and column."""
    records: Records = {name: {} for name in reproduction.lines}
    for record in plain_records(reproduction.cells):
        records[record["row"]][record["column"]] = record
    return records


def row_frame(reproduction: Reproduction) -> pd.DataFrame:
    """Return the state and the cost of every row."""
    rows = []
    for name, line in reproduction.lines.items():
        compared, configuration = reproduction.compared(name), line.configuration
        row: dict[str, Any] = {"row": name, "seeds": line.seeds, "status": line.status}
        row |= {"why": line.why, "address": configuration.address if configuration else None}
        rows.append(row | {key: compared.get(key) for key in (*COSTS, "time_factor")})
    return pd.DataFrame(rows)


def notes_on(reproduction: Reproduction) -> list[str]:
    """Return notes that explain the numbers."""
    published, notes = reproduction.table, list[str]()
    if published.comparable:
        tolerance = f"within the tolerance of ± {published.declared.tolerance:g}, or beyond it"
        notes.append(f"measured − published: {tolerance}")
    notes += with_rows({name: line.why for name, line in reproduction.lines.items()})
    for name, found in reproduction.marked.items():
        mark = published.marks[name]
        notes.append(
            f"{name}, {mark['mark']} to {mark['against']}: "
            f"{record_text(found, 'difference', 'difference')}, p "
            f"{number(found['p_corrected'], 'p')}; printed p < {mark['p']}"
        )
    if published.remarks or published.deviations:
        counts = f"{counted(len(published.deviations), 'deviation')} from the paper"
        counts += f", {counted(len(published.remarks), 'remark')} on what it prints"
        notes.append(f"{counts}: listed on the page, and by --dry-run")
    notes.append(
        f"{MISSING}: not printed in the paper, or not measured; ±: standard deviation over seeds"
    )
    return [*notes, *(reproduction.deciding.notes if reproduction.deciding else ())]


def with_rows(by_row: Mapping[str, str]) -> list[str]:
    """Return a line for every reason, after the rows that have it."""
    names: dict[str, list[str]] = {}
    for name, why in by_row.items():
        names.setdefault(shorten(why, LONGEST, placeholder=" …"), []).append(name)
    return [f"{', '.join(of_reason)}: {why}" for why, of_reason in names.items() if why]


def _scores(reproduction: Reproduction, records: Records, notes: list[str]) -> Table:
    """Return published and measured scores in the column that decides, with differences to the
    reference, and cost."""
    published, deciding, lines = reproduction.table, reproduction.deciding, []
    known = ["row", "seeds", "published" if published.comparable else "literature", "measured"]
    if published.comparable:
        known.append("measured − published")
    columns = score_columns(deciding) if deciding else {}
    parts = (len(known) + len(columns),)
    time_kind = deciding.time_kind if deciding else "wall time"
    columns |= {"data": ("data_factor", "factor")}
    columns |= cost_columns(time_kind, reproduction.reference)
    for name, line in reproduction.lines.items():
        record = records[name].get(reproduction.column, {})
        value, gap = record.get("measured"), record.get("gap")
        cells: list[object] = [name, len(line.seeds)]
        cells.append(Cell(record.get("text") or MISSING, record.get("published")))
        cells.append(Cell(spread(value, record.get("sd")), value))
        if published.comparable:
            verdict = {True: " (within)", False: " (beyond)", None: ""}[record.get("within")]
            cells.append(Cell(number(gap, "difference") + verdict, gap))
        cells += record_cells(reproduction.compared(name), columns)
        lines.append([*cells, line.status])
    named = [*known, *columns, "status"]
    return table(named, lines, title=reproduction.column, notes=tuple(notes), parts=parts)


def by_column(reproduction: Reproduction, records: Records) -> list[Table]:
    """Return the measured values of rows by column, printed ones below; none where there is a
    single column, which the scores have."""
    known, lines = [*reproduction.comparisons, *reproduction.cells["column"]], []
    columns = [column for column in dict.fromkeys(known) if PART not in column and column != MEAN]
    columns += [MEAN] if MEAN in known else []
    if {*columns} <= {reproduction.column}:
        return []
    for name, of_row in records.items():
        shown = [of_row.get(column, {}) for column in columns]
        if any(cell.get("measured") is not None for cell in shown):
            lines.append([name, *(Cell(_quantity(cell), cell.get("measured")) for cell in shown)])
        if {cell["column"] for cell in shown if cell.get("text")} - {reproduction.column}:
            printed = [Cell(cell.get("text") or MISSING, cell.get("published")) for cell in shown]
            lines.append([f"{name} (published)", *printed])
    return [table(["row", *columns], lines, title="by column")]


def part_tables(records: Records) -> list[Table]:
    """Return the quantities `TABLE | LINE | COLUMN` of every row as tables of their own."""
    tables = []
    for name, of_row in records.items():
        found: dict[str, dict[str, dict[str, str]]] = {}
        for quantity, record in of_row.items():
            if PART in quantity:
                part, line, column = quantity.split(PART)
                found.setdefault(part, {}).setdefault(line, {})[column] = _quantity(record)
        for part, texts in found.items():
            columns = list(dict.fromkeys(column for cells in texts.values() for column in cells))
            lines = [[line, *map(cells.get, columns)] for line, cells in texts.items()]
            tables.append(table(["", *columns], lines, title=f"{name}: {part}"))
    return tables


def _quantity(record: Mapping[str, Any]) -> str:
    """Return what is measured: a score, of deviations of which there is no room, or a quantity."""
    if record.get("low") is not None:
        return number(record["measured"])
    return spread(record.get("measured"), record.get("sd") or None, "count")
