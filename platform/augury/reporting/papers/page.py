"""The page of a paper's table: published and measured values, test sets by rows, deviations, cost."""

from __future__ import annotations

from augury.core.progress import duration
from augury.reporting import comparison
from augury.reporting.figures import score_against_cost
from augury.reporting.page import download, file_name
from augury.reporting.page import render as render_page
from augury.reporting.papers.reproduction import Reproduction
from augury.reporting.papers.tables import answer, by_test, csv, heading, latex, rows
from augury.reporting.sweeps.locations import locations, reproduce_command
from augury.reporting.tables import Cell, table


def render(shown: Reproduction) -> str:
    """Return the page as far as the table is measured."""
    cost = score_against_cost(shown.deciding) if shown.deciding else None
    title = f"{shown.table.name} at scale {shown.table.space.scale}"
    what, *cautions = heading(shown)
    facts = {"paper": what, "seeds": ", ".join(map(str, shown.sweep.seeds)), "training in all": duration(shown.seconds)}
    addresses = [
        [
            line.name,
            Cell(f"runs/{line.configuration.address}", code=True),
            ", ".join(f"{trial.seed} ({trial.progress})" for trial in line.configuration.trials),
        ]
        for line in shown.lines
        if line.configuration
    ]
    stem = file_name(title)
    return render_page(
        "paper",
        [cost] if cost else [],
        name=title,
        title=title,
        question=shown.table.space.question,
        answer=answer(shown),
        cautions=[*cautions, *(shown.deciding.warnings if shown.deciding else ())],
        facts=facts,
        rows=rows(shown),
        downloads=[download("CSV", f"{stem}.csv", csv(shown)), download("LaTeX", f"{stem}.tex", latex(shown))],
        by_test=comparison.by_test(list(shown.comparisons.values())) if len(shown.comparisons) > 1 else None,
        published=by_test(shown),
        reference=shown.table.space.reference,
        cost=cost,
        deviations=shown.table.deviations,
        command=reproduce_command(shown.sweep, shown.table.name),
        locations=locations(shown.sweep),
        addresses=table(["row", "runs", "seeds"], addresses, kind="words"),
    )
