"""The charts of an experiment, and what all charts have in common: learning curves, and score against cost."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from augury.reporting.comparison import Comparison, Row
from augury.reporting.looks import COLOURS, OTHER, Look, look
from augury.reporting.numbers import time_unit
from augury.reporting.results import CLOCKS, SystemResult, comparable_seconds
from augury.scoring.metrics import title
from augury.training import history
from augury.training.history import Record

MOST_POINTS = 400
"""Of a line at most; a chart has no room for more."""
Ends = tuple[float, float | None, float | None]
"""A value and the ends of its interval; None where they are not known."""


@dataclass(frozen=True)
class Figure:
    """A chart with its meaning in words."""

    name: str
    title: str
    caption: str
    chart: go.Figure
    narrowest: int = 0
    """Pixels of a chart that takes the whole width of a page; on a narrower screen it scrolls."""

    def to_dict(self) -> dict[str, Any]:
        """Return what Plotly draws, as JSON-like values."""
        return dict(json.loads(self.chart.to_json()))


def chart(
    traces: Sequence[go.Scatter | go.Bar], x: str, y: str, height: int = 300, legend: bool = False, **layout: Any
) -> go.Figure:
    """Return traces on axes with these titles; colours of text and grid are the page's, `layout` is Plotly's."""
    figure = go.Figure(list(traces))
    figure.update_layout(
        template="none",
        height=height,
        margin={"l": 52, "r": 12, "t": 8, "b": 44},
        showlegend=legend,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        hovermode="closest",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font_size=13,
    )
    figure.update_xaxes(title_text=html.escape(x), rangemode="tozero")
    figure.update_yaxes(title_text=html.escape(y))
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        axis.update(zeroline=False, automargin=True, ticks="", showline=False)
    return figure.update_layout(**layout)


def trace(
    name: str,
    drawn: Look,
    x: Sequence[Any] | None,
    y: Sequence[Any],
    hover: str,
    *,
    mode: str = "lines+markers",
    width: float = 2,
    size: int = 7,
    ends: Sequence[Ends] = (),
    **options: Any,
) -> go.Scatter | go.Bar:
    """Return the points of what is called `name`, in its look, with the whiskers `ends`; mode `bars` draws bars.

    `hover` is what is shown of a point behind the name, in Plotly's format; `options` are Plotly's.
    """
    shown = html.escape(name)
    options |= {"name": shown, "x": x, "y": y, "hovertemplate": f"{shown}{hover}<extra></extra>"}
    options["error_y"] = error_bars(ends) if ends else None
    if mode == "bars":
        return go.Bar(marker={"color": drawn.colour}, **options)
    if "lines" in mode:
        options["line"] = {"color": drawn.colour, "dash": drawn.dash, "width": width}
    if "markers" in mode:
        options["marker"] = {"color": drawn.colour, "symbol": drawn.symbol, "size": size}
    return go.Scatter(mode=mode, **options)


def error_bars(values: Sequence[Ends], width: int | None = None, **options: Any) -> dict[str, Any]:
    """Return the whiskers of (value, low, high), none where an end is None."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [0.0 if high is None else high - value for value, _, high in values],
        "arrayminus": [0.0 if low is None else value - low for value, low, _ in values],
        "thickness": 1.5,
        "width": width,
        **options,
    }


def learning_curves(results: Sequence[SystemResult], metric: str) -> list[Figure]:
    """Return validation score and training loss, each against updates and against training time; a line per seed.

    `metric` is the one that decides; the validation loss stands in where it was not measured in training. A chart of
    which nothing was recorded is left out.
    """
    kind, _ = comparable_seconds([result.cost for result in results if result.cost])
    points = _histories(results, CLOCKS[kind])
    valid = f"valid/{metric}" if f"valid/{metric}" in set(points["metric"]) else "valid/loss"
    labels = {valid: f"validation {title(valid.removeprefix('valid/'))}", "train/loss": "training loss"}
    shown = points[points["metric"].isin(labels)].copy()
    unit, size = time_unit(shown["time"].max() if len(shown) else 0.0)
    shown["time"] /= size
    figures = []
    for name, label in labels.items():
        curves = dict(list(shown[shown["metric"] == name].groupby(["system", "seed"], sort=False)))
        values = ((system, seed, curve["value"].iloc[-1]) for (system, seed), curve in curves.items())
        ends = ", ".join(f"{results[system].name} seed {seed} {value:.2f}" for system, seed, value in values)
        for over, axis in (("updates", "updates"), ("time", f"{kind} ({unit})")):
            traces = [_line(results[system], system, seed, over, curve) for (system, seed), curve in curves.items()]
            heading, drawing = f"{label[0].upper()}{label[1:]} against {over}", chart(traces, axis, label)
            figures.append(
                Figure(f"{name.replace('/', '-')}-{over}", heading, f"{heading}; at the end: {ends}", drawing)
            )
    return [figure for figure in figures if figure.chart.data]


def _histories(results: Sequence[SystemResult], clock: str) -> pd.DataFrame:
    """Return a row for every system, seed, metric and record; `clock` is the metric of times."""
    rows = []
    for system, result in enumerate(results):
        for seed, run in result.runs.items():
            records = history.read(run)
            for record, time in zip(records, seconds_of(records, clock), strict=True):
                rows += [(system, seed, name, record["update"], time, v) for name, v in record["metrics"].items()]
    return pd.DataFrame(rows, columns=["system", "seed", "metric", "updates", "time", "value"])


def points(curve: pd.DataFrame, most: int, *columns: str) -> list[list[float | None]]:
    """Return columns of a curve as a chart can show them: of `most` rows, evenly with both ends; nothing not finite."""
    kept = curve.iloc[np.unique(np.linspace(0, len(curve) - 1, most).round().astype(int))]
    return [[float(f"{value:.6g}") if math.isfinite(value) else None for value in kept[column]] for column in columns]


def _line(result: SystemResult, system: int, seed: int, over: str, curve: pd.DataFrame) -> go.Scatter:
    x, y = points(curve, MOST_POINTS, over, "value")
    mode, width = "lines+markers" if len(x) <= 60 else "lines", 2 if len(result.runs) == 1 else 1.3
    hover = f", seed {seed}: %{{y:.3~f}} at %{{x:,.6~g}}"
    return trace(result.name, look(system), x, y, hover, mode=mode, width=width, size=5)


def front(comparison: Comparison) -> list[Row]:
    """Return the rows of which none is both better, by the metric that decides, and cheaper; cheapest first."""
    metric, sign = comparison.metrics[0], 1 if comparison.lower_is_better else -1
    kept: list[Row] = []
    _, times = comparison.times()
    priced = [row for row in comparison.rows if row.address in times and metric in row.scores]
    for row in sorted(priced, key=lambda row: (times[row.address], sign * row.scores[metric].value)):
        if not kept or sign * (row.scores[metric].value - kept[-1].scores[metric].value) < 0:
            kept.append(row)
    return kept


def score_against_cost(comparison: Comparison, looks: Mapping[str, Look] | None = None) -> list[Figure]:
    """Draw the deciding score with its interval against training time, and the front; no chart of under two systems.

    With `looks`, by address, the others are small and without interval.
    """
    metric, best = comparison.metrics[0], front(comparison)
    kind, times = comparison.times()
    priced = [(row, times[row.address]) for row in comparison.rows if row.address in times and metric in row.scores]
    if len(priced) < 2:
        return []
    unit, size = time_unit(max(seconds for _, seconds in priced))
    drawn = {row.address: look(index) for index, row in enumerate(comparison.rows)} if looks is None else looks
    on_front = [(row, times[row.address] / size, row.scores[metric].value) for row in best]
    _, x, y = zip(*on_front, strict=True)
    line = {"color": COLOURS[0], "shape": "hv", "width": 1.5}
    traces = [go.Scatter(mode="lines", name="front", hoverinfo="skip", showlegend=False, x=x, y=y, line=line)]
    for row, seconds in sorted(priced, key=lambda item: item[0].address in drawn):  # highlighted ones are on top
        highlighted, score = row.address in drawn, row.scores[metric]
        point = trace(
            row.name,
            drawn.get(row.address, OTHER),
            [seconds / size],
            [score.value],
            f": {score.text} after %{{x:.2f}} {unit}",
            mode="markers",
            size=11 if highlighted else 8,
            ends=[score.ends] if highlighted else (),
            marker_line={"width": 2 if row in best else 0, "color": COLOURS[0]},
        )
        traces.append(point)
    label = f"{title(metric)} on {comparison.where}"
    values = ", ".join(f"{row.name} {y:.1f} in {x:.1f} {unit}" for row, x, y in on_front)
    figure = chart(traces, f"{kind} of one seed ({unit})", label, height=380, legend=looks is None)
    caption = f"On the line, cheapest first, nothing is both better and cheaper: {values}."
    return [Figure("cost", f"{label} against {kind}", caption, figure)]


def seconds_of(records: Sequence[Record], clock: str = "train/seconds") -> list[float]:
    """Return the training time at every record, pauses between restarts left out where training recorded it."""
    measured = [(record["update"], record["metrics"][clock]) for record in records if clock in record["metrics"]]
    if not measured:
        return [record["time"] - records[0]["time"] for record in records]
    updates, times = zip((0, 0.0), *measured, strict=True)
    return [float(time) for time in np.interp([record["update"] for record in records], updates, times)]
