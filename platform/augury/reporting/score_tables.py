"""Comparisons as tables (scores with cost, test sets by systems) and as frames with exact
numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from augury.core.progress import duration
from augury.reporting.comparison import Comparison, Row
from augury.reporting.numbers import MISSING, factor, probability
from augury.reporting.report import Block, Section, section
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


def score_table(comparisons: Sequence[Comparison]) -> Table:
    """Return all test sets in one table, with the cost of one seed beside the first, and the notes
    of that one."""
    first, rows = comparisons[0], []
    for item in comparisons:
        for index, system in enumerate(item.rows):
            cells: dict[str, object] = {"system": system.name}
            if len(comparisons) > 1:
                cells["test set"] = item.test_label
            cells["seeds"] = cell(len(system.seeds), "d")
            cells |= dict(zip(score_columns(item), score_cells(item, system), strict=True))
            if item is first and any(of.cost for of in item.rows):
                cells[f"{item.time_kind}/seed"] = cell(item.seconds(system), duration)
                cells[f"× {item.rows[0].name}"] = cell(system.time_factor, factor)
            rows.append((cells, system_style(index)))
    columns = list(dict.fromkeys(column for cells, _ in rows for column in cells))
    costs = [column for column in columns if column.endswith("/seed")]
    return table(
        columns,
        [row(map(cells.get, columns), style=style) for cells, style in rows],
        title="" if len(comparisons) > 1 else first.test_label,
        notes=first.notes,
        parts=tuple(map(columns.index, costs)),
    )


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


def test_sections(
    comparisons: Sequence[Comparison],
    what: str,
    *others: Block,
    styles: Mapping[str, Style] | None = None,
) -> list[Section]:
    """Return the scores on every test set beside each other, where there are several.

    `what` are the rows that p-values are corrected for, `others` further blocks, `styles` those of
    `by_test`.
    """
    if len(comparisons) < 2:
        return []
    baseline = comparisons[0].rows[0].name
    text = (
        f"Blue is better than {baseline} on the same test set, orange is worse; * p < 0.05, "
        f"** p < 0.01, corrected for the {what} of one set."
    )
    return [section("Test sets", by_test(comparisons, styles), text, *others)]


def by_test(comparisons: Sequence[Comparison], styles: Mapping[str, Style] | None = None) -> Table:
    """Return the deciding score of every system on every test set, shaded by its gain as a share of
    the largest one.

    `styles` are by address, by default those of the places of systems.
    """
    gains = [item.gain(system) or 0.0 for item in comparisons for system in item.rows]
    reach = max(map(abs, gains), default=0.0) or 1.0
    addresses = {system.name: system.address for item in comparisons for system in item.rows}
    if styles is None:
        styles = {of: system_style(index) for index, of in enumerate(addresses.values())}
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
        lines.append(row(cells, style=styles.get(address, OTHER)))
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
    scored = ("value", "low", "high", "n", "signature")
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
