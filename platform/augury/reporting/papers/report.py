"""The report of a paper's table: text, page, Markdown, LaTeX, CSV and JSON of printed and measured
values; before anything is run, what is printed, and the configurations of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from textwrap import shorten
from typing import Any

import pandas as pd

from augury.core.progress import duration
from augury.reporting.answer import answer as compare_in_words
from augury.reporting.numbers import MISSING, factor, number, probability, signed, spread
from augury.reporting.papers.reproduction import LEFT_OUT, MEASURED, TESTED, Reproduction
from augury.reporting.papers.table import Published
from augury.reporting.report import Code, Listing, Places, Report, section
from augury.reporting.results import MEAN
from augury.reporting.score_tables import COSTS
from augury.reporting.sweeps.locations import address_table, locations, repeating
from augury.reporting.tables import Cell, Table, cell, plain_text, table
from augury.scoring.registry import title
from augury.sweeping.plan import Plan

PART = " | "
"""Between table, line and column in the name of a quantity that stands in a table of its own."""
LONGEST = 200
"""The maximum number of characters of a reason in notes."""


def report(reproduction: Reproduction) -> Report:
    """Return the report of a table, as far as it is measured."""
    published, sweep, deciding = reproduction.table, reproduction.sweep, reproduction.deciding
    shown, sentence = f"{published.name} at scale {published.space.scale}", answer(reproduction)
    source, *cautions = published.heading
    first, others = rows(reproduction), [*by_column(reproduction), *part_tables(reproduction)]
    deviations = _deviations(published)
    caption = (*cautions, *first.notes, *deviations.splitlines())
    for_papers = [
        replace(of, title=f"{source}, {of.title}".rstrip(", ")) for of in (first, *others)
    ]
    for_papers[0] = replace(for_papers[0], notes=caption)
    lines = reproduction.lines.items()
    addresses = [(name, of.configuration) for name, of in lines if of.configuration]
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
            *(section(other.title, other) for other in others),
            section("Deviations from the paper", Listing(published.deviations)),
            section("Repeat it", Code(repeating(sweep))),
            section("Storage", Places(locations(sweep)), address_table("row", addresses)),
        ],
        data=to_dict(reproduction),
        summary=[
            "\n".join([source, *cautions]),
            first,
            *others,
            deviations,
            f"cost: {duration(sweep.seconds)} of training in all\n{sentence}",
        ],
        tables=for_papers,
        records=frame(reproduction),
    )


def answer(reproduction: Reproduction) -> str:
    """Return the outcome in one sentence."""
    if reproduction.table.declared.measure is not None:
        measured = reproduction.cells.dropna(subset="measured")["row"].nunique()
        run = sum(line.configuration is not None for line in reproduction.lines.values())
        return f"{measured} of {run} rows are measured."
    if reproduction.deciding is None:
        return "Nothing is measured yet."
    return compare_in_words(reproduction.deciding)


def notes_on(reproduction: Reproduction) -> list[str]:
    """Return notes that explain the numbers."""
    published, lines = reproduction.table, reproduction.lines
    declared, notes = published.declared, list[str]()
    if published.comparable:
        tolerance = f"within the tolerance of ± {declared.tolerance:g}, or beyond it"
        notes.append(f"measured − published: {tolerance}")
    notes += with_rows({name: line.why for name, line in lines.items()})
    for name in lines:
        for where, value in declared.literature.get(name, {}).items():
            notes.append(f"{name} elsewhere: {value} ({where})")
    for name, found in reproduction.marked.items():
        mark = published.marks[name]
        notes.append(
            f"{name}, {mark.mark} to {mark.against}: {found.difference_text}, p "
            f"{number(found.corrected, probability)}; printed p < {mark.p}"
        )
    notes += published.remarks
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


def rows(reproduction: Reproduction) -> Table:
    """Return published and measured scores in the column that decides, with differences to the
    reference, and cost."""
    lines = []
    for name, line in reproduction.lines.items():
        cells = {"row": name, "seeds": len(line.seeds), **_scores(reproduction, name)}
        cells["status"] = line.status
        lines.append([*cells.values()])
    columns, notes = [*cells], tuple(notes_on(reproduction))
    parts = (columns.index("data"),)
    return table(columns, lines, title=reproduction.column, notes=notes, parts=parts)


def _scores(reproduction: Reproduction, name: str) -> dict[str, object]:
    published, deciding = reproduction.table, reproduction.deciding
    record = reproduction.record(name)
    compared = reproduction.lines[name].compared.get(reproduction.column)
    value, low = record["measured"], record["low"]
    cells: dict[str, object] = {
        "published" if published.comparable else "literature": Cell(
            record["text"] or MISSING, record["published"]
        ),
        title(deciding.metrics[0]) if deciding else "measured": Cell(
            spread(value, record["deviation"]), value
        ),
        "95 % interval": None if low is None else f"[{low:.1f}, {record['high']:.1f}]",
    }
    if published.comparable:
        verdict = {True: " (within)", False: " (beyond)", None: ""}[record["within"]]
        gap = number(record["gap"], lambda of: f"{signed(of)}{verdict}")
        cells["measured − published"] = Cell(gap, record["gap"])
    cost = compared.cost if compared else None
    seconds = compared.seconds if compared else None
    time_kind = deciding.time_kind if deciding else "wall time"
    return cells | {
        f"difference to {reproduction.reference} [95 %]": compared
        and Cell(compared.difference_text, compared.difference),
        "p": cell(compared.corrected if compared else None, probability),
        "data": cell(cost.data_factor if cost else None, factor),
        f"{time_kind}/seed": cell(seconds, duration),
        f"× {reproduction.reference}": cell(compared.time_factor if compared else None, factor),
    }


def by_column(reproduction: Reproduction) -> list[Table]:
    """Return the measured values of rows by column, printed ones below; none where there is a
    single column, which `rows` has."""
    known, lines = [*reproduction.comparisons, *reproduction.cells["column"]], []
    columns = [of for of in dict.fromkeys(known) if PART not in of and of != MEAN]
    columns += [MEAN] if MEAN in known else []
    if {*columns} <= {reproduction.column}:
        return []
    for name in reproduction.lines:
        records = [reproduction.record(name, column) for column in columns]
        if any(of["measured"] is not None for of in records):
            lines.append([name, *(Cell(_quantity(of), of["measured"]) for of in records)])
        if {of["column"] for of in records if of["text"]} - {reproduction.column}:
            printed = [Cell(of["text"] or MISSING, of["published"]) for of in records]
            lines.append([f"{name} (published)", *printed])
    return [table(["row", *columns], lines, title="by column")]


def part_tables(reproduction: Reproduction) -> list[Table]:
    """Return the quantities `TABLE | LINE | COLUMN` of every row as tables of their own."""
    tables = []
    for name, records in reproduction.records.items():
        found: dict[str, dict[str, dict[str, str]]] = {}
        for quantity, record in records.items():
            if PART in quantity:
                part, line, column = quantity.split(PART)
                found.setdefault(part, {}).setdefault(line, {})[column] = _quantity(record)
        for part, texts in found.items():
            columns = list(dict.fromkeys(column for of in texts.values() for column in of))
            lines = [[line, *map(of.get, columns)] for line, of in texts.items()]
            tables.append(table(["", *columns], lines, title=f"{name}: {part}"))
    return tables


def _quantity(record: Mapping[str, Any]) -> str:
    """Return what is measured: a score, of deviations of which there is no room, or a quantity,
    counts in full and other numbers below a hundred with three digits."""

    def form(value: float) -> str:
        whole = abs(value) >= 100 or value % 1 == 0
        return f"{value:,.0f}" if whole else f"{value:.3g}"

    if record["low"] is not None:
        return number(record["measured"])
    return spread(record["measured"], record["deviation"], form)


def frame(reproduction: Reproduction) -> pd.DataFrame:
    """Return a record for every row and column, with exact numbers; one for rows without values."""
    records = []
    for name in reproduction.lines:
        about = _about(reproduction, name)
        about["seeds"] = " ".join(map(str, about["seeds"]))
        known = list(reproduction.records[name].values())
        for record in known or [dict(reproduction.record(name))]:
            test = record["column"] or reproduction.column
            records.append({**about, **record, "row": name, "test": test})
    keys = ["row", "test", "published", *MEASURED, *TESTED]
    shown = pd.DataFrame(records)[[*keys, *list(records[0])[1 : len(about)]]]
    shown.insert(0, "table", reproduction.table.name)
    shown.insert(1, "scale", reproduction.table.space.scale)
    return shown


def to_dict(reproduction: Reproduction) -> dict[str, Any]:
    """Return the reproduction as JSON-like values."""
    published, deciding = reproduction.table, reproduction.deciding
    rows = []
    for name in reproduction.lines:
        row = {**reproduction.record(name), **_about(reproduction, name)}
        row["literature"] = dict(published.declared.literature.get(name, {}))
        row["tests"] = reproduction.records[name]
        rows.append({**row, **published.row_dict(name)})
    return {
        **published.to_dict(),
        "reference": reproduction.reference,
        "answer": answer(reproduction),
        "column": reproduction.column,
        "metric": deciding.metrics[0] if deciding else None,
        "seeds": list(reproduction.sweep.seeds),
        "rows": rows,
        "cost": {"train_seconds": reproduction.sweep.seconds},
        "notes": notes_on(reproduction),
        "sweep": reproduction.sweep.folder.uri,
    }


def _about(reproduction: Reproduction, name: str) -> dict[str, Any]:
    """Return the state and the cost of a row."""
    line = reproduction.lines[name]
    compared = line.compared.get(reproduction.column)
    return {
        "row": name,
        "address": line.configuration.address if line.configuration else None,
        "seeds": list(line.seeds),
        "status": line.status,
        "why": line.why,
        **{key: getattr(compared.cost if compared else None, key, None) for key in COSTS},
        "time_factor": compared.time_factor if compared else None,
    }


def plan_dict(published: Published, plan: Plan) -> dict[str, Any]:
    """Return rows, with the addresses of their runs or the reason why there are none,
    configurations and deviations before anything is run, as JSON-like values."""
    addresses = {planned.name: planned.address for planned in plan.configurations.values()}
    merged = {same.name: same for same in plan.merged}
    rows = []
    for name in published.rows:
        same, why = merged.get(name), ""
        if same:
            why = f"as {same.same_as}: {same.reason}"
        elif addresses and name not in addresses:
            why = published.reasons.get(name, LEFT_OUT)
        address = addresses.get(same.same_as if same else name)
        rows.append({**published.row_dict(name), "address": address, "why": why})
    return {**published.to_dict(), "rows": rows, **plan.to_dict()}


def plan_text(published: Published, plan: Plan) -> str:
    """Return rows with the addresses of configurations, and deviations.

    Of several test sets only the mean.
    """
    lines, rows = [], plan_dict(published, plan)["rows"]
    for of in rows:
        texts = published.printed[of["name"]].texts if of["name"] in published.printed else {}
        listed = ", ".join(f"{column} {text}" for column, text in texts.items()) or MISSING
        lines.append([of["name"], texts.get(MEAN, listed), of["address"]])
    notes = (*with_rows({of["name"]: of["why"] for of in rows}), *published.remarks)
    shown = plain_text([table(("row", "published", "run"), lines, notes=notes)]).rstrip("\n")
    question = f"{published.space.question}\n{published.heading[0]}"
    return "\n\n".join([question, shown, _deviations(published)])


def _deviations(published: Published) -> str:
    return "\n".join(f"not as in the paper: {line}" for line in published.deviations)
