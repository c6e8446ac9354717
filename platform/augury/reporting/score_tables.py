"""Comparisons as tables (scores with cost, test sets by systems) and as frames with exact
numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from augury.core.progress import duration
from augury.reporting.comparison import Comparison, Row
from augury.reporting.numbers import MISSING, factor, probability
from augury.reporting.styles import OTHER, Style, system_style
from augury.reporting.tables import Cell, Table, cell, row, table
from augury.scoring.registry import title

COSTS = (
    "data_factor",
    "parameters",
    "updates",
    "target_tokens",
    "train_seconds",
    "cpu_seconds",
    "device_hours",
    "device",
)
"""The fields of a cost that are columns of frames."""


def score_table(comparison: Comparison) -> Table:
    """Return the systems on a test set with the cost of one seed, and the notes."""
    columns, rows = ["system", "seeds", *score_columns(comparison)], []
    costed = any(of.cost for of in comparison.rows)
    if costed:
        columns += [f"{comparison.time_kind}/seed", f"× {comparison.rows[0].name}"]
    for index, system in enumerate(comparison.rows):
        cells = [system.name, cell(len(system.seeds), "d"), *score_cells(comparison, system)]
        if costed:
            cells += [cell(system.seconds, duration), cell(system.time_factor, factor)]
        rows.append(row(cells, style=system_style(index)))
    parts = (len(columns) - 2,) if costed else ()
    label, notes = comparison.test_label, comparison.notes
    return table(columns, rows, title=label, notes=notes, parts=parts)


def score_columns(comparison: Comparison) -> list[str]:
    """Return the titles of the columns of `score_cells`."""
    first, *others = map(title, comparison.metrics)
    return [f"{first} [95 % interval]", "difference [95 %]", "p", *others]


def score_cells(comparison: Comparison, system: Row | None) -> list[Cell]:
    """Return a system's scores, the deciding one with its difference.

    Dashes for a system without scores.
    """
    if system is None:
        return [Cell(MISSING)] * len(score_columns(comparison))
    first, *others = map(system.scores.get, comparison.metrics)
    return [
        Cell(first.text, first.value) if first else Cell(MISSING),
        Cell(system.difference_text, system.difference),
        cell(system.corrected, probability),
        *(cell(score.value if score else None) for score in others),
    ]


def by_test(comparisons: Sequence[Comparison], styles: Mapping[str, Style] | None = None) -> Table:
    """Return the deciding score of every system on every test set, shaded by its gain as a share of
    the largest one; `styles`, by address, are for pages."""
    gains = [item.gain(system) or 0.0 for item in comparisons for system in item.rows]
    reach = max(map(abs, gains), default=0.0) or 1.0
    addresses = {system.name: system.address for item in comparisons for system in item.rows}
    lines = []
    for name, address in addresses.items():
        cells = [Cell(name)]
        for item in comparisons:
            system = next((of for of in item.rows if of.name == name), None)
            score = system.scores.get(item.metrics[0]) if system else None
            if system is None or score is None:
                cells.append(Cell(MISSING))
                continue
            gain, text = item.gain(system), f"{score.value:.1f}{system.mark}"
            cells.append(Cell(text, score.value, None if gain is None else gain / reach))
        lines.append(row(cells, style=(styles or {}).get(address, OTHER)))
    return table(["system", *(item.test for item in comparisons)], lines, title="by test set")


def frame(comparisons: Sequence[Comparison]) -> pd.DataFrame:
    """Return a row for every test set, system and metric, with exact numbers."""
    records = [
        record(comparison, system, metric)
        for comparison in comparisons
        for system in comparison.rows
        for metric in comparison.metrics
    ]
    return pd.DataFrame(records)


def record(comparison: Comparison, system: Row, metric: str) -> dict[str, Any]:
    """Return a system's score in a metric and its cost, with exact numbers; only the deciding
    metric has the difference."""
    score, decides = system.scores.get(metric), metric == comparison.metrics[0]
    tested = system.tested if decides else None
    scored = ("value", "low", "high", "sd", "n", "signature")
    return {
        "test": comparison.test,
        "system": system.name,
        "address": system.address,
        "seeds": " ".join(map(str, system.seeds)),
        "metric": metric,
        **{name: getattr(score, name, None) for name in scored},
        "difference": system.difference if decides else None,
        "difference_low": getattr(tested, "low", None),
        "difference_high": getattr(tested, "high", None),
        "p": getattr(tested, "p_value", None),
        "p_corrected": system.corrected if decides else None,
        "tested_over": getattr(tested, "over", None),
        **{name: getattr(system.cost, name, None) for name in COSTS},
        "time_factor": system.time_factor,
    }
