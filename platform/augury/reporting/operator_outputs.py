"""What the operators behind systems made: notes for tables of scores, and a table for pages."""

from __future__ import annotations

from collections.abc import Sequence

from augury.augment.health import Health, HealthLimits
from augury.reporting.numbers import MISSING
from augury.reporting.results import SystemResult
from augury.reporting.tables import Cell, Table, cell, table
from augury.reporting.untrained import WARNING

COLUMNS = (
    "system",
    "operator",
    "made",
    "lost",
    "empty",
    "copied",
    "repeated",
    "length",
    "rates and errors",
)


def output_notes(results: Sequence[SystemResult]) -> list[str]:
    """Return a note on every output, a warning if it is beyond a default limit.

    With its systems unless all have it.
    """
    augmented = [result.name for result in results if result.outputs]
    notes = []
    for output, names in _systems_by_output(results):
        systems = "" if names == augmented else f" for {', '.join(names)}"
        beyond = WARNING if output.faults(HealthLimits()) else ""
        notes.append(f"{beyond}made by {output.name}{systems}: {output.text}")
    return notes


def output_table(results: Sequence[SystemResult]) -> Table | None:
    """Return the measures of all outputs; None where no system has any."""
    rows = [_cells(output, names) for output, names in _systems_by_output(results)]
    return table(COLUMNS, rows, title="what operators made") if rows else None


def _systems_by_output(results: Sequence[SystemResult]) -> list[tuple[Health, list[str]]]:
    """Return every output with the names of the systems that are trained on it."""
    systems: dict[tuple[str, str], tuple[Health, list[str]]] = {}
    for result in results:
        for output in result.outputs:
            _, names = systems.setdefault((output.name, output.text), (output, []))
            names += [result.name] * (result.name not in names)
    return [*systems.values()]


def _cells(output: Health, names: Sequence[str]) -> list[Cell]:
    lost = ", ".join(f"{count:,} {reason}" for reason, count in output.lost.items())
    others = [
        f"{kind} {rate.realised:.3f} of {rate.asked:g}" for kind, rate in output.rates.items()
    ]
    others += [f"{name} {value:.1f} %" for name, value in output.measures.items()]
    shares = (output.empty, output.copied, output.repeated)
    return [
        Cell(", ".join(names)),
        Cell(output.name),
        cell(output.made, ","),
        Cell(lost or MISSING),
        *(cell(share, lambda value: f"{100 * value:.1f} %") for share in shares),
        cell(output.length, ".2f"),
        Cell(", ".join(others) or MISSING),
    ]
