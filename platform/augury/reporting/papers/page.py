"""The page of a paper's table: published and measured values, test sets by rows, deviations, cost."""

from __future__ import annotations

from augury.core.progress import duration
from augury.reporting.figures import score_against_cost
from augury.reporting.page import downloads, render_page
from augury.reporting.papers.reproduction import Reproduction
from augury.reporting.papers.tables import answer, csv, heading, latex, published_by_test, rows
from augury.reporting.score_tables import by_test
from augury.reporting.sweeps.locations import address_table, locations, reproduce_command


def render(shown: Reproduction) -> str:
    """Return the page as far as the table is measured."""
    cost, sweep, space = score_against_cost(shown.deciding) if shown.deciding else [], shown.sweep, shown.table.space
    title = f"{shown.table.name} at scale {space.scale}"
    what, *cautions = heading(shown)
    measured = ((line.name, line.configuration) for line in shown.lines if line.configuration)
    return render_page(
        "paper",
        cost,
        name=title,
        title=title,
        table=shown.table,
        answer=answer(shown),
        cautions=[*cautions, *(shown.deciding.warnings if shown.deciding else ())],
        facts={"paper": what, "seeds": ", ".join(map(str, sweep.seeds)), "training in all": duration(sweep.seconds)},
        rows=rows(shown),
        downloads=downloads(title, csv=csv(shown), tex=latex(shown)),
        by_test=by_test(list(shown.comparisons.values())) if len(shown.comparisons) > 1 else None,
        published=published_by_test(shown),
        cost=cost,
        command=reproduce_command(sweep, shown.table.name),
        locations=locations(sweep),
        addresses=address_table("row", measured),
    )
