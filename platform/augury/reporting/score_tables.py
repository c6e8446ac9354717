"""The records of comparisons and of runs, with exact numbers, and the data frames, JSON and tables
that are made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import chain, product
from typing import Any

import pandas as pd

from augury.experiments.record import Cost, RunRecord
from augury.reporting.comparison import Comparison
from augury.reporting.numbers import Kind, number
from augury.reporting.results import Estimate
from augury.reporting.styles import OTHER, Style, system_style
from augury.reporting.tables import Cell, Table, cell, record_cells, row, table
from augury.scoring.registry import record_name, title
from augury.scoring.stored import Score

Record = dict[str, Any]
"""A row of a frame: column -> exact value."""
SCORED = ("value", "low", "high", "sd", "n", "signature")
COSTS = tuple(field.name for field in fields(Cost))
"""The columns of a score, and those of a cost."""


def score_table(comparison: Comparison) -> Table:
    """Return the systems on a test set with the cost of one seed, and the notes."""
    columns, rows, parts = score_columns(comparison), [], list[int]()
    if any(system.cost for system in comparison.rows):
        parts.append(2 + len(columns))
        columns |= cost_columns(comparison.time_kind, comparison.rows[0].name)
    for index, (name, record) in enumerate(by_system(comparison).items()):
        cells = [name, cell(len(record["seeds"]), "count"), *record_cells(record, columns)]
        rows.append(row(cells, style=system_style(index)))
    label, notes = comparison.test_label, comparison.notes
    return table(["system", "seeds", *columns], rows, title=label, notes=notes, parts=(*parts,))


def score_columns(comparison: Comparison) -> dict[str, tuple[str, Kind]]:
    """Return the columns of the scores of systems, the deciding one with its difference."""
    first, *others = comparison.metrics
    return {
        f"{title(first)} [95 % interval]": ("value", "score"),
        "difference [95 %]": ("difference", "difference"),
        "p": ("p_corrected", "p"),
        **{title(metric): (f"{record_name(metric)}/value", "score") for metric in others},
    }


def cost_columns(time_kind: str, baseline: str) -> dict[str, tuple[str, Kind]]:
    """Return the columns of the training time of one seed."""
    return {f"{time_kind}/seed": ("seconds", "time"), f"× {baseline}": ("time_factor", "factor")}


def by_test(comparisons: Sequence[Comparison], styles: Mapping[str, Style] | None = None) -> Table:
    """Return the deciding score of every system on every test set, shaded by its gain as a share of
    the largest one; `styles`, by address, are for pages."""
    gains = [item.gain(system) or 0.0 for item in comparisons for system in item.rows]
    reach = max(map(abs, gains), default=0.0) or 1.0
    lines, frames = [], [by_system(item) for item in comparisons]
    known = {name: record for systems in frames for name, record in systems.items()}
    for name, first in known.items():
        cells = [Cell(name)]
        for item, systems in zip(comparisons, frames, strict=True):
            record = systems.get(name, {"value": None, "difference": None, "mark": ""})
            way = -reach if item.lower_is_better else reach
            shade = None if record["difference"] is None else record["difference"] / way
            cells.append(Cell(number(record["value"]) + record["mark"], record["value"], shade))
        lines.append(row(cells, style=(styles or {}).get(first["address"], OTHER)))
    return table(["system", *(item.test for item in comparisons)], lines, title="by test set")


def frame(comparisons: Sequence[Comparison]) -> pd.DataFrame:
    """Return the records of comparisons as one data frame."""
    return pd.DataFrame(chain.from_iterable(map(records, comparisons)))


def contents(comparisons: Sequence[Comparison]) -> list[Record]:
    """Return comparisons as JSON-like values: what holds for each of them, and its records."""
    return [
        {
            **vars(comparison),
            "metrics": [record_name(metric) for metric in comparison.metrics],
            "rows": [*records(comparison)],
            "lower_is_better": comparison.lower_is_better,
        }
        for comparison in comparisons
    ]


def records(comparison: Comparison) -> Iterator[Record]:
    """Yield a row for every system and metric, from which all tables are made; only those of the
    deciding metric have the difference to the baseline, tested and corrected."""
    for system, metric in product(comparison.rows, comparison.metrics):
        decides = metric == comparison.metrics[0]
        tested = system.tested if decides else None
        yield {
            "test": comparison.test,
            "system": system.name,
            "address": system.address,
            "seeds": system.seeds,
            "metric": record_name(metric),
            **scored(system.scores.get(metric), system.cost),
            "difference": system.difference if decides else None,
            "difference_low": tested and tested.low,
            "difference_high": tested and tested.high,
            "p": tested and tested.p_value,
            "p_corrected": system.corrected if decides else None,
            "tested_over": tested and tested.over,
            "mark": system.mark if decides else "",
            "meaningless": system.meaningless,
            "seconds": system.seconds,
            "time_factor": system.time_factor,
        }


def by_system(comparison: Comparison) -> dict[str, Record]:
    """Return the records of the deciding metric by the name of their system, each with the values
    of the other metrics, `METRIC/value`."""
    systems: dict[str, Record] = {}
    for record in records(comparison):
        systems.setdefault(record["system"], record)[f"{record['metric']}/value"] = record["value"]
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
