"""The response of the deciding score to the swept keys: a shaded table of two, or one by each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from augury.core.naming import is_whole, title
from augury.reporting.numbers import MISSING, adaptive
from augury.reporting.sweeps.summary import Summary
from augury.reporting.tables import Cell, Table, table
from augury.scoring.registry import title as metric_title

DENSE = 0.5
"""The minimum share of cells with a value in a table of two keys."""


def responses(summary: Summary) -> list[Table]:
    """Return a table of two varying keys where it is dense enough, otherwise tables by one key.

    Cells are means over configurations. Shades show the distance from the reference, as a share of
    the largest one among those trained to the end.
    """
    values = varying(summary)
    points = scored_points(summary, values)
    if len(points) < 2:
        return []
    whole = points[points["whole"]] if points["whole"].any() else points
    reference = points.loc[points["address"] == summary.sweep.reference, "mean"]
    level = reference.iloc[0] if len(reference) else whole["mean"].mean()
    reach = (whole["mean"] - level).abs().max() or 1.0
    lower = summary.deciding.lower_is_better if summary.deciding else summary.sweep.mode == "min"
    if summary.deciding is None:
        score = summary.metric
    else:
        score = f"{metric_title(summary.deciding.metrics[0])} on {summary.deciding.test_label}"

    def cell(of: pd.DataFrame) -> Cell:
        """Return the mean of configurations; of one alone with half its interval and its seeds."""
        if of.empty:
            return Cell(MISSING)
        mean, half, seeds = of["mean"].mean(), of["half"].iloc[0], of["seeds"].iloc[0]
        noise = "" if pd.isna(half) else f" ± {adaptive(half, like=mean)}"
        more = f"{noise} ({seeds})" if len(of) == 1 else f" ({len(of)} configurations)"
        text = f"{adaptive(mean)}{more}{'' if of['whole'].all() else ' †'}"
        shade = min(max((mean - level) / reach, -1.0), 1.0) * (-1 if lower else 1)
        return Cell(text, mean, shade, hint=", ".join(of["name"]))

    keys, names = (
        [*values],
        dict(zip(summary.sweep.keys, short_names(summary.sweep.keys), strict=True)),
    )
    heading = f"{score[0].upper()}{score[1:]} by "
    if len(keys) == 2:
        across, down = keys
        pairs = points[keys].dropna().drop_duplicates()
        if len(pairs) >= DENSE * len(values[across]) * len(values[down]):
            rows = []
            for value in values[down]:
                of_row = points[points[down] == value]
                cells = [cell(of_row[of_row[across] == other]) for other in values[across]]
                rows.append([value, *cells])
            columns = [f"{names[down]} \\ {names[across]}", *values[across]]
            return [table(columns, rows, title=f"{heading}{names[across]} and {names[down]}")]
    return [
        table(
            [names[key], score],
            [[value, cell(points[points[key] == value])] for value in values[key]],
            title=f"{heading}{names[key]}",
        )
        for key in keys
    ]


def varying(summary: Summary) -> dict[str, list[str]]:
    """Return the swept keys that have more than one value, with their values for people; numbers
    are sorted."""
    sweep, varied = summary.sweep, {}
    points = [item.point for item in sweep.configurations]
    points += [item.point for item in sweep.merged]
    for key in sweep.keys:
        values = [point[key] for point in points if key in point]
        if all(isinstance(of, int | float) and not isinstance(of, bool) for of in values):
            values = sorted(values)
        labels = list(dict.fromkeys(map(value_text, values)))
        if len(labels) > 1:
            varied[key] = labels
    return varied


def short_names(keys: Sequence[str]) -> list[str]:
    """Return the shortest unique parts of dotted keys, as in the names of configurations."""
    words = [([part for part in key.split(".") if not is_whole(part)] or [key])[-1] for key in keys]
    return [word if words.count(word) == 1 else key for word, key in zip(words, keys, strict=True)]


def value_text(value: Any) -> str:
    """Return a swept value for people, as in the names of configurations."""
    return title({"value": value}).partition("=")[2]


def scored_points(summary: Summary, values: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return a row for every scored point, those that are the same experiment as another included,
    with its deciding score on the test set, or in validation without one.

    Columns: name, mean, half (half the interval), seeds, whole (whether it was trained to the end),
    address, and the value of every varying key, missing where the point has none.
    """
    sweep, scores = summary.sweep, {}
    for result in summary.ranking:
        if summary.deciding is None and result.mean is not None:
            known = (result.mean, result.half, len(result.values), result.finished > 0)
            scores[result.address] = known
        row = summary.row(result)
        score = row.scores.get(summary.deciding.metrics[0]) if row and summary.deciding else None
        if score:
            half = max(score.high - score.value, score.value - score.low)
            scores[result.address] = (score.value, half, len(score.seeds), True)
    addresses = {item.name: item.address for item in sweep.configurations}
    points = [(item.name, item.address, item.point) for item in sweep.configurations]
    for merged in sweep.merged:
        name = f"{merged.name} (as {merged.same_as})"
        points.append((name, addresses.get(merged.same_as, ""), merged.point))
    rows = []
    for name, address, point in points:
        if address in scores:
            texts = [value_text(point[key]) if key in point else None for key in values]
            rows.append([name, *scores[address], address, *texts])
    columns = ["name", "mean", "half", "seeds", "whole", "address", *values]
    return pd.DataFrame(rows, columns=columns).astype({"mean": float, "whole": bool})
