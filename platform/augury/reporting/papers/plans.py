"""A paper's table before anything is run: the printed values of every row, and the address of its runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from augury.reporting import tables
from augury.reporting.comparison import MEAN
from augury.reporting.numbers import MISSING
from augury.reporting.papers.tables import caption, printed_dict, printed_notes, reasons
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
    """Return the rows as plain lines, with the addresses of configurations; of several test sets only the mean."""
    rows = [_row(table, plan, name) for name in table.rows]
    notes = (*reasons({row["name"]: row["why"] for row in rows}), *printed_notes(table))
    cells = [[row["name"], _printed(row["published"]), row["address"] or MISSING] for row in rows]
    head = f"{table.space.question}\n{table.where} of {table.paper}, at scale {table.space.scale}\n\n"
    return head + tables.plain_text([tables.table(("row", "published", "run"), cells, notes=notes)]).rstrip("\n")


def _printed(published: Mapping[str, float]) -> str:
    all_columns = ", ".join(f"{column} {value:g}" for column, value in published.items()) or MISSING
    return f"{published[MEAN]:.1f}" if MEAN in published else all_columns


def _row(table: Published, plan: Plan, name: str) -> dict[str, Any]:
    """Return a row as it is printed, and the address of its runs, or the reason why it has none."""
    addresses = {planned.name: planned.address for planned in plan.configurations.values()}
    same = next((merged for merged in plan.merged if merged.label == name), None)
    reason = ""
    if same:
        reason = f"as {same.same_as}: {same.reason}"
    elif plan.configurations and name not in addresses:
        reason = "other rows were asked for" if name in table.space.rows else table.reason(name)
    return {**printed_dict(table, name), "address": addresses.get(same.same_as if same else name), "why": reason}
