"""Comparisons as tables and frames: scores with cost, test sets by systems, all numbers exact for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from augury.core.progress import duration
from augury.reporting.comparison import Comparison, Row
from augury.reporting.looks import look
from augury.reporting.numbers import MISSING, amount, factor, interval, passes, probability
from augury.reporting.tables import Bar, Cell, Table
from augury.reporting.tables import Row as TableRow
from augury.scoring import metrics
from augury.scoring.metrics import title

COSTS = ("data_factor", "parameters", "updates", "target_tokens", "train_seconds", "device_hours", "device")
"""The numbers of a cost that frames have."""


def score_tables(comparisons: Sequence[Comparison], bars: bool = False) -> list[Table]:
    """Return all test sets in one table, with the cost beside the scores of one set or below those of several.

    Notes that hold for all sets are given once. With `bars`, the deciding scores are also drawn.
    """
    first, several = comparisons[0], len(comparisons) > 1
    costed = first.costed and not several
    scores = _score_columns(comparisons)
    columns = ["system", *(["test set"] if several else []), "seeds", scores[0], *([""] if bars else []), *scores[1:]]
    rows = []
    for item in comparisons:
        for index, row in enumerate(item.rows):
            by_column = dict(zip(score_columns(item), score_cells(item, row), strict=True))
            cells = [by_column.get(column, Cell(MISSING)) for column in scores]
            if bars:
                cells.insert(1, _bar(item, row, index))
            names = [Cell(row.name), *([Cell(item.where)] if several else []), Cell(str(len(row.seeds)))]
            rows.append(TableRow((*names, *cells, *(cost_cells(row) if costed else [])), look(index)))
    costs, parts = (cost_columns(first), (len(columns),)) if costed else ([], ())
    title = "" if several else first.where
    shown = Table((*columns, *costs), tuple(rows), title, tuple(shared_notes(comparisons)), parts=parts)
    return [shown, cost_table(first)] if several and first.costed else [shown]


def score_columns(comparison: Comparison) -> list[str]:
    """Return the titles of the columns of `score_cells`."""
    first, *others = map(title, comparison.metrics)
    return [f"{first} [95 % interval]", "difference [95 %]", "p", *others]


def score_cells(comparison: Comparison, row: Row | None) -> list[Cell]:
    """Return a system's scores, the deciding one with its difference; dashes for a system that is not scored."""
    first, *others = (row.scores.get(metric) if row else None for metric in comparison.metrics)
    difference, p_value = (row.difference, row.corrected) if row else (None, None)
    return [
        Cell(interval(first), first.value if first else None),
        Cell(row.difference_text if row else MISSING, difference),
        Cell(probability(p_value), p_value),
        *(Cell(f"{score.value:.1f}" if score else MISSING, score.value if score else None) for score in others),
    ]


def cost_columns(comparison: Comparison) -> list[str]:
    """Return the titles of the columns of `cost_cells`."""
    seen = "examples seen" if comparison.metrics[0] in metrics.names("labels") else "tokens seen"
    return ["data", "parameters", "updates", "passes", seen, "train time", "× baseline"]


def cost_cells(row: Row) -> list[Cell]:
    """Return the cost of one seed of a system."""
    cost = row.cost
    if cost is None:
        return [Cell(MISSING)] * 7
    return [
        Cell(factor(cost.data_factor), cost.data_factor),
        Cell(amount(cost.parameters), cost.parameters),
        Cell(f"{cost.updates:,.0f}", cost.updates),
        Cell(passes(cost.passes), next(iter(cost.passes.values()), None)),
        Cell(amount(cost.target_tokens), cost.target_tokens),
        Cell(duration(cost.train_seconds), cost.train_seconds),
        Cell(factor(row.time_factor), row.time_factor),
    ]


def _score_columns(comparisons: Sequence[Comparison]) -> list[str]:
    return list(dict.fromkeys(column for comparison in comparisons for column in score_columns(comparison)))


def cost_table(comparison: Comparison) -> Table:
    """Return the cost of every system."""
    rows = [TableRow((Cell(row.name), *cost_cells(row)), look(index)) for index, row in enumerate(comparison.rows)]
    return Table(("system", *cost_columns(comparison)), tuple(rows), "cost of one seed")


def shared_notes(comparisons: Sequence[Comparison]) -> list[str]:
    """Return the notes of all test sets, each once, behind the sets that it holds for unless these are all."""
    sets: dict[str, list[str]] = {}
    for comparison in comparisons:
        for note in comparison.notes:
            sets.setdefault(note, []).append(comparison.test)
    return [note if len(tests) == len(comparisons) else f"{', '.join(tests)}: {note}" for note, tests in sets.items()]


def by_test(comparisons: Sequence[Comparison]) -> Table:
    """Return the deciding score of every system on every test set, with its difference to the first system.

    Shades say how far a score lies from the baseline's on the same set, as a share of the farthest.
    """
    reach = max((abs(item.gain(row) or 0.0) for item in comparisons for row in item.rows), default=0.0) or 1.0
    systems = list(dict.fromkeys(row.name for comparison in comparisons for row in comparison.rows))
    by_name = [{row.name: row for row in comparison.rows} for comparison in comparisons]
    rows = []
    for index, name in enumerate(systems):
        cells = [_by_test_cell(item, known.get(name), reach) for item, known in zip(comparisons, by_name, strict=True)]
        rows.append(TableRow((Cell(name), *cells), look(index)))
    return Table(("system", *(comparison.test for comparison in comparisons)), tuple(rows), "by test set")


def _by_test_cell(comparison: Comparison, row: Row | None, reach: float) -> Cell:
    score = row.scores.get(comparison.metrics[0]) if row else None
    if row is None or score is None:
        return Cell(MISSING)
    gain = comparison.gain(row)
    hint = f"{row.name} on {comparison.where}: {interval(score)}"
    hint += "" if gain is None else f", difference {row.difference_text}"
    return Cell(f"{score.value:.1f}{row.mark}", score.value, None if gain is None else gain / reach, hint=hint)


def _bar(comparison: Comparison, row: Row, index: int) -> Cell:
    """Draw a score's interval over the range of all systems on the same test set."""
    metric = comparison.metrics[0]
    estimates = [score for other in comparison.rows if (score := other.scores.get(metric))]
    score, base = row.scores.get(metric), comparison.rows[0].scores.get(metric)
    if score is None:
        return Cell("")
    low, high = min(estimate.low for estimate in estimates), max(estimate.high for estimate in estimates)

    def share(value: float) -> float:
        return (value - low) / ((high - low) or 1.0)

    baseline = share(base.value) if base else None
    bar = Bar(share(score.low), share(score.value), share(score.high), baseline, look(index).colour)
    return Cell("", bar=bar, hint=interval(score))


def frame(comparisons: Sequence[Comparison]) -> pd.DataFrame:
    """Return a row for every test set, system and metric, all numbers exact.

    The difference, in the metric that decides, is in the rows of that metric alone.
    """
    return pd.DataFrame([record for item in comparisons for row in item.rows for record in _records(item, row)])


def _records(comparison: Comparison, row: Row) -> list[dict[str, Any]]:
    system = {
        "test": comparison.test,
        "system": row.name,
        "address": row.address,
        "seeds": " ".join(map(str, row.seeds)),
    }
    cost = {name: getattr(row.cost, name, None) for name in COSTS}
    records = []
    for metric in comparison.metrics:
        first, score = metric == comparison.metrics[0], row.scores.get(metric)
        tested = row.tested if first else None
        values = {name: getattr(score, name, None) for name in ("value", "low", "high", "n", "signature")}
        difference = {
            "difference": row.difference if first else None,
            "difference_low": getattr(tested, "low", None),
            "difference_high": getattr(tested, "high", None),
            "p": getattr(tested, "p_value", None),
            "p_corrected": row.corrected if first else None,
            "tested_over": getattr(tested, "over", None),
        }
        records.append({**system, "metric": metric, **values, **difference, **cost, "time_factor": row.time_factor})
    return records
