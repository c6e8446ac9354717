"""A paper's table before anything is run: what is printed of every row, and what stands for it here."""

from __future__ import annotations

from typing import Any

from augury.reporting.papers.formats import caption, plain_row, printed_notes, reasons
from augury.reporting.table import MEAN, MISSING, aligned
from augury.sweeping.plan import Plan
from augury.sweeping.published import Published


def plain(table: Published, plan: Plan) -> dict[str, Any]:
    """The rows, configurations and deviations as JSON-like values."""
    return {
        **caption(table),
        "rows": [_row(table, plan, name) for name in table.rows],
        **plan.to_dict(),
        "deviations": list(table.deviations),
        "notes": printed_notes(table),
    }


def text(table: Published, plan: Plan) -> str:
    """The same as plain lines, with the addresses of the configurations; of printed values the mean."""
    rows = [_row(table, plan, name) for name in table.rows]
    means = [row["published"].get(MEAN) for row in rows]
    cells = [
        [row["name"], MISSING if mean is None else f"{mean:.1f}", row["address"] or MISSING]
        for row, mean in zip(rows, means, strict=True)
    ]
    blocks = [
        [table.space.question, f"{table.where} of {table.paper}, at scale {table.space.scale}"],
        aligned([["row", "published mean", "run"], *cells]),
        [*reasons({row["name"]: row["why"] for row in rows}), *printed_notes(table)],
    ]
    return "\n\n".join("\n".join(line.rstrip() for line in block) for block in blocks if block)


def _row(table: Published, plan: Plan, name: str) -> dict[str, Any]:
    """A row as it is printed, and where its runs will lie, or why it has none."""
    addresses = {planned.name: planned.address for planned in plan.configurations.values()}
    same = next((merged for merged in plan.merged if merged.called == name), None)
    why = ""
    if same:
        why = f"as {same.same_as}: {same.reason}"
    elif name not in addresses:
        why = "other rows were asked for" if name in table.space.rows else table.reason(name)
    return {**plain_row(table, name), "address": addresses.get(same.same_as if same else name), "why": why}
