"""What a terminal shows of systems: many test sets, such as the languages of XNLI, in few lines; or none."""

from __future__ import annotations

from collections.abc import Sequence

from augury.experiments.runs import NO_TESTS
from augury.reporting.results import SystemResult, best_validations
from augury.reporting.table import MISSING, Table, aligned, cautions, fitted
from augury.scoring.metrics import title

FULL = 3  # tables that are shown whole, one below the other


def text(tables: Sequence[Table]) -> str:
    """Comparisons as plain lines; of many test sets the first, which is their mean, and below it scores alone."""
    if len(tables) <= FULL:
        return fitted(tables)
    note = "every test set with intervals and p: the page, --json, or augury compare"
    return "\n".join([fitted(tables[:1]), "by test set", *by_test(tables), "", note, ""])


def by_test(tables: Sequence[Table]) -> list[str]:
    """The deciding score of every system on every test set, with the mark of its difference to the first system."""
    systems = list(dict.fromkeys(row.name for table in tables for row in table.rows))
    cells = {
        (row.name, place): f"{score.value:.1f}{row.mark}"
        for place, table in enumerate(tables)
        for row in table.rows
        if (score := row.scores.get(table.metrics[0]))
    }
    places = range(len(tables))
    lines = [[name, *(cells.get((name, place), MISSING) for place in places)] for name in systems]
    return [line.rstrip() for line in aligned([["system", *(table.test for table in tables)], *lines])]


def validated(systems: Sequence[SystemResult]) -> str:
    """Runs that no test set measures: where they lie, and the best of every metric of their validations."""
    found = [
        (system.name, str(seed), best_validations(run), run.uri)
        for system in systems
        for seed, run in system.runs.items()
    ]
    metrics = list(dict.fromkeys(metric for _, _, best, _ in found for metric in best))
    lines = [["system", "seed", *(f"best {title(metric)}" for metric in metrics), "run"]]
    for name, seed, best, uri in found:
        cells = (f"{best[metric]:.2f}" if metric in best else MISSING for metric in metrics)
        lines.append([name, seed, *cells, uri])
    return "\n".join([*aligned(lines), "", NO_TESTS, *cautions(systems), ""])
