"""The page of a paper's table: published and measured values, test sets by rows, deviations,
cost."""

from __future__ import annotations

from augury.core.progress import duration
from augury.reporting.figures import score_against_cost
from augury.reporting.page import downloads, render_page
from augury.reporting.papers.reproduction import Reproduction
from augury.reporting.papers.tables import (
    answer,
    csv,
    heading,
    latex,
    matrices,
    published_by_test,
    rows,
)
from augury.reporting.score_tables import by_test
from augury.reporting.sweeps.locations import address_table, locations, reproduce_command


def render(reproduction: Reproduction) -> str:
    """Render the page of a table, as far as it is measured."""
    table, sweep, deciding = reproduction.table, reproduction.sweep, reproduction.deciding
    cost = score_against_cost(deciding) if deciding else []
    title = f"{table.name} at scale {table.space.scale}"
    source, *cautions = heading(reproduction)
    measured = (
        (line.name, line.configuration) for line in reproduction.lines if line.configuration
    )
    return render_page(
        "paper",
        cost,
        name=title,
        title=title,
        table=table,
        answer=answer(reproduction),
        power=deciding.power_text if deciding else "",
        cautions=[*cautions, *(deciding.warnings if deciding else ())],
        facts={
            "paper": source,
            "seeds": ", ".join(map(str, sweep.seeds)),
            "training in all": duration(sweep.seconds),
        },
        rows=rows(reproduction),
        downloads=downloads(title, csv=csv(reproduction), tex=latex(reproduction)),
        by_test=by_test(list(reproduction.comparisons.values()))
        if len(reproduction.comparisons) > 1
        else None,
        published=published_by_test(reproduction),
        matrices=matrices(reproduction),
        cost=cost,
        command=reproduce_command(sweep, table.name, _asked(reproduction)),
        locations=locations(sweep),
        addresses=address_table("row", measured),
    )


def _asked(reproduction: Reproduction) -> list[str]:
    """Return the rows that were asked for besides the reference; none if all were."""
    if all(line.status != "left out" for line in reproduction.lines):
        return []
    reference = reproduction.table.space.reference
    return [
        line.name for line in reproduction.lines if line.configuration and line.name != reference
    ]
