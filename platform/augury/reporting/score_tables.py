"""Comparisons as tables (scores with cost, test sets by systems) and as frames with exact
numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import chain, product
from typing import Any

import pandas as pd

from augury.core.progress import duration
from augury.experiments.record import Cost, RunRecord
from augury.reporting.comparison import Comparison, Row
from augury.reporting.numbers import MISSING, factor, probability
from augury.reporting.results import Estimate
from augury.reporting.styles import OTHER, Style, system_style
from augury.reporting.tables import Cell, Table, cell, row, table
from augury.scoring.registry import record_name, title
from augury.scoring.stored import Score

Record = dict[str, Any]
"""A row of a frame: column -> exact value."""
SCORED = ("value", "low", "high", "sd", "n", "signature")
COSTS = tuple(field.name for field in fields(Cost))
"""The columns of a score, and those of a cost."""


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
    """Return the records of comparisons as one data frame."""
    return pd.DataFrame([*chain.from_iterable(map(records, comparisons))])


def contents(comparisons: Sequence[Comparison]) -> list[Record]:
    """Return comparisons as JSON-like values: what holds for each of them, and its records."""
    return [
        {**vars(of), "rows": records(of), "lower_is_better": of.lower_is_better}
        for of in comparisons
    ]


def records(comparison: Comparison) -> list[Record]:
    """Return a row for every system and metric, from which all tables are made; only those of the
    deciding metric have the difference to the baseline, tested and corrected."""
    rows = []
    for system, metric in product(comparison.rows, comparison.metrics):
        decides = metric == comparison.metrics[0]
        tested = system.tested if decides else None
        known = {
            "test": comparison.test,
            "system": system.name,
            "address": system.address,
            "seeds": system.seeds,
            "metric": metric,
            **scored(system.scores.get(metric), system.cost),
            "difference": system.difference if decides else None,
            "difference_low": tested and tested.low,
            "difference_high": tested and tested.high,
            "p": tested and tested.p_value,
            "p_corrected": system.corrected if decides else None,
            "tested_over": tested and tested.over,
            "meaningless": system.meaningless,
            "seconds": system.seconds,
            "time_factor": system.time_factor,
        }
        rows.append(known)
    return rows


def by_system(comparison: Comparison) -> dict[str, Record]:
    """Return the records of the deciding metric by address, each with the values of the other
    metrics, `METRIC/value`."""
    systems: dict[str, Record] = {}
    for of in records(comparison):
        systems.setdefault(of["address"], of)[f"{of['metric']}/value"] = of["value"]
    return systems


def run_records(run: RunRecord) -> list[Record]:
    """Return a row for every test set and metric that a run, a single seed, is scored by."""
    return [
        {"test": test, "metric": record_name(score.name), **scored(score, run.cost)}
        for test, scores in run.tests.items()
        for score in scores
    ]


def scored(score: Estimate | Score | None, cost: Cost | None) -> Record:
    """Return the columns of a score and a cost; those that are not known are None."""
    known = {name: getattr(score, name, None) for name in SCORED}
    return {**known, **{name: getattr(cost, name, None) for name in COSTS}}
