"""A paper's table before anything is run: what is printed, and the configurations of its rows."""

from __future__ import annotations

from typing import Any

from augury.reporting.numbers import MISSING
from augury.reporting.papers.table import Published, with_rows
from augury.reporting.results import MEAN
from augury.reporting.tables import plain_text, table
from augury.sweeping.plan import Plan


def plan_dict(published: Published, plan: Plan) -> dict[str, Any]:
    """Return rows, configurations and deviations before anything is run, as JSON-like values."""
    planned = [_plan_row(published, plan, name) for name in published.rows]
    return {**published.to_dict(), "rows": planned, **plan.to_dict()}


def plan_text(published: Published, plan: Plan) -> str:
    """Return rows with the addresses of configurations, and deviations.

    Of several test sets only the mean.
    """
    planned = [_plan_row(published, plan, name) for name in published.rows]
    cells = []
    for of_row in planned:
        printed = published.printed.get(of_row["name"])
        texts = printed.texts if printed else {}
        listed = ", ".join(f"{column} {text}" for column, text in texts.items()) or MISSING
        cells.append([of_row["name"], texts.get(MEAN, listed), of_row["address"]])
    reasons = with_rows({of_row["name"]: of_row["why"] for of_row in planned})
    notes = (*reasons, *published.remarks)
    shown = table(("row", "published", "run"), cells, notes=notes)
    return "\n\n".join(
        [
            f"{published.space.question}\n{published.heading[0]}",
            plain_text([shown]).rstrip("\n"),
            "\n".join(f"not as in the paper: {line}" for line in published.deviations),
        ]
    )


def _plan_row(published: Published, plan: Plan, name: str) -> dict[str, Any]:
    """Return a row as it is printed, and the address of its runs, or the reason why it has none."""
    addresses = {planned.name: planned.address for planned in plan.configurations.values()}
    same = next((merged for merged in plan.merged if merged.label == name), None)
    why = f"as {same.same_as}: {same.reason}" if same else ""
    if not same and plan.configurations and name not in addresses:
        other = name in published.space.rows
        why = "other rows were asked for" if other else published.reason(name)
    address = addresses.get(same.same_as if same else name)
    return {**published.row_dict(name), "address": address, "why": why}
