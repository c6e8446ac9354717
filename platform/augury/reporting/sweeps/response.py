"""The response of the deciding score to the swept keys: a chart by one key, a shaded table of
two."""

from __future__ import annotations

import html
import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from augury.core.naming import is_whole, title
from augury.reporting.figures import Figure, chart, error_bars, within_bounds
from augury.reporting.numbers import MISSING, adaptive, adaptive_interval, seeds
from augury.reporting.styles import COLOURS
from augury.reporting.sweeps.summary import Summary
from augury.reporting.tables import Cell, Table, table
from augury.scoring.registry import title as metric_title

GREY, BLUE = COLOURS[0], COLOURS[1]
DENSE = 0.5
"""The minimum share of cells with a value in a table of two keys."""
RATIO, CROWDED = 20.0, 0.25
"""An axis is logarithmic where the largest value is so many times the smallest, and half of the
values would lie within this share of a linear one."""


@dataclass(frozen=True)
class Axis:
    """A swept key."""

    key: str
    name: str
    """The shortest part of the key that is unique."""
    kind: Literal["linear", "log", "category"]
    values: tuple[Any, ...]
    """The values that occur, sorted if they are numbers."""

    def rank(self, point: Mapping[str, Any]) -> int | None:
        """Return the rank of a point's value; None where it has none, such as a baseline outside
        the space."""
        return self.values.index(point[self.key]) if self.key in point else None

    def label(self, rank: int) -> str:
        """Return a value for people."""
        return value_text(self.values[rank])

    def position(self, rank: int) -> float | str:
        """Return the place of a value on the axis of a chart."""
        return self.label(rank) if self.kind == "category" else float(self.values[rank])


def responses(summary: Summary) -> list[Figure | Table]:
    """Return a table of two varying keys where it is dense enough, otherwise charts by one key."""
    keys, points = varying_axes(summary), scored_points(summary)
    if len(points) < 2:
        return []
    if len(keys) == 2:
        pairs = points[[axis.key for axis in keys]].dropna().drop_duplicates()
        if len(pairs) >= DENSE * len(keys[0].values) * len(keys[1].values):
            return [pair_table(summary, points, *keys)]
    return [key_chart(summary, points, axis) for axis in keys]


def varying_axes(summary: Summary) -> list[Axis]:
    """Return the swept keys that have more than one value."""
    sweep = summary.sweep
    points = [item.point for item in sweep.configurations]
    points += [item.point for item in sweep.merged]
    axes = [
        _axis(key, name, [point[key] for point in points if key in point])
        for key, name in zip(sweep.keys, short_names(sweep.keys), strict=True)
    ]
    return [axis for axis in axes if len(axis.values) > 1]


def short_names(keys: Sequence[str]) -> list[str]:
    """Return the shortest unique parts of dotted keys, as in the names of configurations."""
    words = [([part for part in key.split(".") if not is_whole(part)] or [key])[-1] for key in keys]
    return [word if words.count(word) == 1 else key for word, key in zip(words, keys, strict=True)]


def value_text(value: Any) -> str:
    """Return a swept value for people, as in the names of configurations."""
    return title({"value": value}).partition("=")[2]


def _axis(key: str, name: str, values: Sequence[Any]) -> Axis:
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        distinct = {json.dumps(value, sort_keys=True): value for value in values}
        return Axis(key, name, "category", tuple(distinct.values()))
    ordered = tuple(sorted(set(values)))
    positive = [value for value in ordered if value > 0]
    if len(positive) < 2 or ordered[0] < 0 or positive[-1] / positive[0] < RATIO:
        return Axis(key, name, "linear", ordered)
    if (statistics.median(ordered) - ordered[0]) / (ordered[-1] - ordered[0]) >= CROWDED:
        return Axis(key, name, "linear", ordered)
    # A logarithmic axis cannot show zero: with it, the values are at equal distances.
    return Axis(key, name, "log" if ordered[0] > 0 else "category", ordered)


def score_name(summary: Summary) -> str:
    """Return what `scored_points` are: the deciding score on the test set, else in validation."""
    if summary.deciding is None:
        return summary.metric
    return f"{metric_title(summary.deciding.metrics[0])} on {summary.deciding.test_label}"


def scored_points(summary: Summary) -> pd.DataFrame:
    """Return a row for every scored point, those that are the same experiment as another included.

    Columns: name, address, mean, half (half the interval), seeds, whole (whether it was trained to
    the end), and for every varying key the rank of its value, missing where the point has none.
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
        name = f"{merged.label} (as {merged.same_as})"
        points.append((name, addresses.get(merged.same_as, ""), merged.point))
    axes, rows = varying_axes(summary), []
    for name, address, point in points:
        if address in scores:
            ranks = [
                axis.values.index(point[axis.key]) if axis.key in point else None for axis in axes
            ]
            rows.append([name, address, *scores[address], *ranks])
    columns = ["name", "address", "mean", "half", "seeds", "whole", *(axis.key for axis in axes)]
    numbers = dict.fromkeys(["mean", "half", *(axis.key for axis in axes)], float)
    return pd.DataFrame(rows, columns=columns).astype(numbers)


def key_chart(summary: Summary, points: pd.DataFrame, axis: Axis) -> Figure:
    """Draw the score at every value of a key: a dot for every configuration, hollow where it was
    not trained to the end, the mean of whole ones where values have several, and the reference as a
    line where it has none of the values."""
    shown, traces = points.dropna(subset=[axis.key]), []
    reference = points[points["address"] == summary.sweep.reference]
    if len(reference) and reference[axis.key].isna().all():
        ends = [(rank, reference["mean"].iloc[0], _text(reference.iloc[0])) for rank in (0, -1)]
        line = {"color": GREY, "dash": "dot", "width": 2.2}
        traces.append(_trace(axis, ends, mode="lines", name="reference", line=line))
    whole = shown[shown["whole"]]
    means = [(int(rank), float(of["mean"].mean())) for rank, of in whole.groupby(axis.key)]
    if len(whole) > len(means):
        texts = [(rank, mean, f"{axis.label(rank)}: {adaptive(mean)}") for rank, mean in means]
        mode = "markers" if axis.kind == "category" else "lines+markers"
        marker = {"color": BLUE, "size": 10}
        traces.append(_trace(axis, texts, mode=mode, name="mean", marker=marker))
    for label, dots, symbol in (
        ("configuration", whole, "circle"),
        ("not trained to the end", shown[~shown["whole"]], "circle-open"),
    ):
        rows = [(int(row[axis.key]), row["mean"], _text(row)) for _, row in dots.iterrows()]
        marker = {"color": GREY, "symbol": symbol, "size": 8}
        whiskers = [(mean, mean - half, mean + half) for mean, half in _means_and_halves(dots)]
        which = "error_x" if axis.kind == "category" else "error_y"
        if rows:
            options = {which: error_bars(whiskers), "marker": marker}
            traces.append(_trace(axis, rows, mode="markers", name=label, **options))
    name = score_name(summary)
    heading = f"{name[0].upper()}{name[1:]} by {axis.name}"
    values = ", ".join(f"{axis.label(rank)}: {adaptive(mean)}" for rank, mean in means)
    titles = (name, axis.name) if axis.kind == "category" else (axis.name, name)
    figure = chart(traces, *titles)
    figure.update_xaxes(rangemode="normal")
    bounds = within_bounds(
        summary.deciding.metrics[0] if summary.deciding else summary.sweep.metric_name
    )
    if axis.kind == "category":
        order = [axis.label(rank) for rank in reversed(range(len(axis.values)))]
        figure.update_yaxes(type="category", categoryorder="array", categoryarray=order)
        figure.update_layout(height=130 + 34 * len(axis.values), xaxis=bounds)
    else:
        figure.update_xaxes(type=axis.kind)
        figure.update_layout(yaxis=bounds)
    return Figure(
        f"response-{axis.key}", heading, f"{heading}, means: {values or 'none yet'}", figure
    )


def pair_table(summary: Summary, points: pd.DataFrame, across: Axis, down: Axis) -> Table:
    """Return the mean at every pair of values, with half its interval and the number of seeds.

    Shades show the distance from the reference, as a share of the largest one among those trained
    to the end.
    """
    shown = points.dropna(subset=[across.key, down.key])
    settled = shown[shown["whole"]] if shown["whole"].any() else shown
    reference = points.loc[points["address"] == summary.sweep.reference, "mean"]
    level = reference.iloc[0] if len(reference) else settled["mean"].mean()
    reach = (settled["mean"] - level).abs().max() or 1.0
    by_pair = {(row[down.key], row[across.key]): row for _, row in shown.iterrows()}
    lower = summary.deciding.lower_is_better if summary.deciding else summary.sweep.mode == "min"

    def cell(pair: tuple[int, int]) -> Cell:
        if (row := by_pair.get(pair)) is None:
            return Cell(MISSING)
        noise = "" if np.isnan(row["half"]) else f" ± {adaptive(row['half'], like=row['mean'])}"
        text = f"{adaptive(row['mean'])}{noise} ({row['seeds']}){'' if row['whole'] else ' †'}"
        shade = float(np.clip((row["mean"] - level) / reach, -1, 1))
        return Cell(text, row["mean"], -shade if lower else shade, hint=_text(row))

    columns, rows = range(len(across.values)), range(len(down.values))
    cells = [[down.label(row), *(cell((row, column)) for column in columns)] for row in rows]
    header = [f"{down.name} \\ {across.name}", *map(across.label, columns)]
    name = score_name(summary)
    heading = f"{name[0].upper()}{name[1:]} by {across.name} and {down.name}"
    return table(header, cells, title=heading)


def _means_and_halves(points: pd.DataFrame) -> list[tuple[float, float]]:
    """Return means with half their intervals, 0 where none is known."""
    return list(zip(points["mean"], points["half"].fillna(0.0), strict=True))


def _text(row: pd.Series) -> str:
    """Return a score in words."""
    early = "" if row["whole"] else ", not trained to the end"
    mean, half = row["mean"], row["half"]
    ends = (None, None) if np.isnan(half) else (mean - half, mean + half)
    return f"{row['name']}: {adaptive_interval(mean, *ends)}, {seeds(row['seeds'])}{early}"


def _trace(axis: Axis, points: Sequence[tuple[int, float, str]], **options: Any) -> go.Scatter:
    """Return points (rank of the value, score, words) over the key; categories are on the vertical
    axis."""
    positions = [axis.position(rank) for rank, _, _ in points]
    scores = [score for _, score, _ in points]
    x, y = (scores, positions) if axis.kind == "category" else (positions, scores)
    texts = [html.escape(text) for _, _, text in points]
    return go.Scatter(x=x, y=y, text=texts, hovertemplate="%{text}<extra></extra>", **options)
