"""A paper's table before anything is run: the printed values of every row, and the address of
its runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from augury.reporting import tables
from augury.reporting.numbers import MISSING
from augury.reporting.papers.tables import caption, deviations, printed_dict, printed_notes, reasons
from augury.reporting.results import MEAN
from augury.sweeping.plan import Plan
from augury.sweeping.published import Published


def to_dict(table: Published, plan: Plan) -> dict[str, Any]:
    """Return the rows, configurations and deviations as JSON-like values."""
    return {
        **caption(table),
        "rows": [_row(table, plan, name) for name in table.rows],
        **plan.to_dict(),
        "deviations": list(table.deviations),
        "notes": printed_notes(table),
    }


def text(table: Published, plan: Plan) -> str:
    """Return rows with the addresses of configurations, and deviations.

    Of several test sets only the mean.
    """
    rows = [_row(table, plan, name) for name in table.rows]
    notes = (*reasons({row["name"]: row["why"] for row in rows}), *printed_notes(table))
    cells = [
        [row["name"], _printed(table.texts(row["name"])), row["address"] or MISSING] for row in rows
    ]
    head = (
        f"{table.space.question}\n{table.where} of {table.paper}, at scale {table.space.scale}\n\n"
    )
    body = tables.plain_text(
        [tables.table(("row", "published", "run"), cells, notes=notes)]
    ).rstrip("\n")
    return "\n\n".join([head + body, *(["\n".join(lines)] if (lines := deviations(table)) else [])])


def _printed(texts: Mapping[str, str]) -> str:
    all_columns = ", ".join(f"{column} {text}" for column, text in texts.items()) or MISSING
    return texts.get(MEAN, all_columns)


def _row(table: Published, plan: Plan, name: str) -> dict[str, Any]:
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
