"""The response of the deciding score to the swept keys: a shaded table of two, or one by each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from augury.core.naming import title
from augury.reporting.numbers import MISSING, adapted, spread
from augury.reporting.sweeps.summary import ConfigurationResult, Summary
from augury.reporting.tables import Cell, Table, table
from augury.scoring.registry import title as metric_title
from augury.sweeping.state import Sweep

DENSE = 0.5
"""The minimum share of cells with a value in a table of two keys."""


def responses(summary: Summary) -> list[Table]:
    """Return a table of two varying keys where it is dense enough, otherwise tables by one key.

    Cells are means over configurations. Shades show the distance from the reference, as a share of
    the largest one.
    """
    sweep, deciding = summary.sweep, summary.deciding
    values = varying(sweep)
    points = scored_points(summary, values)
    if not values or len(points) < 2:
        return []
    reference = points.loc[points["address"] == sweep.reference, "mean"]
    level = reference.iloc[0] if len(reference) else points["mean"].mean()
    reach = (points["mean"] - level).abs().max() or 1.0
    lower, score = sweep.mode == "min", summary.metric
    if deciding:
        lower = deciding.lower_is_better
        score = f"{metric_title(deciding.metrics[0])} on {deciding.test_label}"
    short = title(dict.fromkeys(sweep.keys, 0)).split(", ")
    names = {key: name.partition("=")[0] for key, name in zip(sweep.keys, short, strict=True)}

    def cell(part: pd.DataFrame) -> Cell:
        """Return the mean of configurations; of one alone with half its interval and its seeds."""
        if part.empty:
            return Cell(MISSING)
        mean, half, seeds = part["mean"].mean(), part["half"].iloc[0], part["seeds"].iloc[0]
        known = None if len(part) > 1 or pd.isna(half) else half
        more = f"{seeds}" if len(part) == 1 else f"{len(part)} configurations"
        text = f"{spread(mean, known, adapted(mean))} ({more})"
        shade = (mean - level) / reach * (-1 if lower else 1)
        return Cell(text, mean, shade, hint=", ".join(part["name"]))

    def grid(down: str, across: str | None = None) -> Table:
        """Return the scores by one key, or by two."""
        columns, by, rows = [names[down], score], names[down], []
        if across:
            columns = [f"{names[down]} \\ {names[across]}", *values[across]]
            by = f"{names[across]} and {names[down]}"
        for value in values[down]:
            of_row = points[points[down] == value]
            parts = [of_row]
            if across:
                parts = [of_row[of_row[across] == other] for other in values[across]]
            rows.append([value, *map(cell, parts)])
        return table(columns, rows, title=f"{score[0].upper()}{score[1:]} by {by}")

    if len(values) == 2:
        across, down = values
        pairs = points[[across, down]].dropna().drop_duplicates()
        if len(pairs) >= DENSE * len(values[across]) * len(values[down]):
            return [grid(down, across)]
    return [grid(key) for key in values]


def varying(sweep: Sweep) -> dict[str, list[str]]:
    """Return the swept keys that have more than one value, with their values for people; numbers
    are sorted."""
    varied, points = {}, [item.point for item in sweep.configurations]
    points += [item.point for item in sweep.merged]
    for key in sweep.keys:
        values = [point[key] for point in points if key in point]
        if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
            values = sorted(values)
        labels = list(dict.fromkeys(map(value_text, values)))
        if len(labels) > 1:
            varied[key] = labels
    return varied


def value_text(value: object) -> str:
    """Return a swept value for people, as in the names of configurations."""
    return title({"value": value}).partition("=")[2]


def scored_points(summary: Summary, values: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return a row for every scored point, those that are the same experiment as another included,
    with its deciding score on the test set, or in validation without one.

    Columns: name, address, mean, half (half the interval), seeds, and the value of every varying
    key, missing where the point has none.
    """
    results = {result.name: result for result in summary.ranking}
    points = [(result.name, result, result.configuration.point) for result in summary.ranking]
    for merged in summary.sweep.merged:
        if merged.same_as in results:
            name = f"{merged.name} (as {merged.same_as})"
            points.append((name, results[merged.same_as], merged.point))
    rows = []
    for name, result, point in points:
        if score := _score(summary, result):
            texts = [value_text(point[key]) if key in point else None for key in values]
            rows.append([name, result.address, *score, *texts])
    columns = ["name", "address", "mean", "half", "seeds", *values]
    return pd.DataFrame(rows, columns=columns).astype({"mean": float})


def _score(summary: Summary, result: ConfigurationResult) -> tuple[float, float | None, int] | None:
    """Return mean, half and seeds of a configuration; None where none is trained to its end."""
    if summary.deciding is None:
        if result.mean is None or not result.finished:
            return None
        return result.mean, result.half, len(result.values)
    row = summary.row(result)
    score = row.scores.get(summary.deciding.metrics[0]) if row else None
    if score is None:
        return None
    half = max(score.high - score.value, score.value - score.low)
    return score.value, half, len(score.seeds)
