"""The charts of an experiment (learning curves, score against cost), and the base of all charts."""

from __future__ import annotations

import html
import json
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from augury.reporting.comparison import Comparison, Row
from augury.reporting.numbers import time_unit
from augury.reporting.results import CLOCKS, SystemResult, on_one_device, time_kind
from augury.reporting.styles import COLOURS, OTHER, Style, system_style
from augury.scoring.registry import bounds, title
from augury.training.history import Record

MAX_POINTS = 400
"""The maximum number of points of a line; a chart has no room for more."""
LINE = 30
"""The maximum number of characters in a line of the title of a vertical axis."""
IntervalEnds = tuple[float, float | None, float | None]
"""A value and the ends of its interval; None where they are not known."""


@dataclass(frozen=True)
class Figure:
    """A chart with its title and a caption that says the same in words."""

    name: str
    title: str
    caption: str
    chart: go.Figure
    min_width: int = 0
    """The width in pixels below which a chart scrolls.

    Above 0 it takes the whole width of a page.
    """

    def to_dict(self) -> dict[str, Any]:
        """Return the chart as Plotly's JSON-like values."""
        return dict(json.loads(self.chart.to_json()))


def chart(
    traces: Sequence[go.Scatter | go.Bar],
    x: str,
    y: str,
    height: int = 300,
    legend: bool = False,
    **layout: Any,
) -> go.Figure:
    """Return a chart of traces; `x` and `y` are the titles of axes, `layout` options of Plotly.

    The page sets the colours of text and grid.
    """
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
    figure.update_yaxes(title_text="<br>".join(map(html.escape, textwrap.wrap(y, LINE))))
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        axis.update(zeroline=False, automargin=True, ticks="", showline=False)
    return figure.update_layout(**layout)


def within_bounds(metric: str) -> dict[str, Any]:
    """Return options for the axis of a metric: it ends where values of the metric do."""
    low, high = bounds(metric)
    ends = {"clipmin": low, "clipmax": high}
    return {"autorangeoptions": {end: at for end, at in ends.items() if math.isfinite(at)}}


def trace(
    name: str,
    style: Style,
    x: Sequence[Any] | None,
    y: Sequence[Any],
    hover: str,
    *,
    mode: str = "lines+markers",
    width: float = 2,
    size: int = 7,
    ends: Sequence[IntervalEnds] = (),
    **options: Any,
) -> go.Scatter | go.Bar:
    """Return the points of the system `name` in its style, with the error bars `ends`.

    Mode `bars` draws bars.

    `hover` is the text of a point after the name, in Plotly's format; `options` are Plotly's.
    """
    shown = html.escape(name)
    options |= {"name": shown, "x": x, "y": y, "hovertemplate": f"{shown}{hover}<extra></extra>"}
    options["error_y"] = error_bars(ends) if ends else None
    if mode == "bars":
        return go.Bar(marker={"color": style.colour}, **options)
    if "lines" in mode:
        options["line"] = {"color": style.colour, "dash": style.dash, "width": width}
    if "markers" in mode:
        options["marker"] = {"color": style.colour, "symbol": style.symbol, "size": size}
    return go.Scatter(mode=mode, **options)


def error_bars(
    values: Sequence[IntervalEnds], width: int | None = None, **options: Any
) -> dict[str, Any]:
    """Return the error bars of (value, low, high); ends that are None have none."""
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
    """Return validation score and training loss, each against updates and against training time,
    with a line per seed.

    `metric` is the one that decides; where training did not measure it, the validation loss takes
    its place. Charts without records are left out.
    """
    kind = time_kind([result.cost for result in results if result.cost])
    points = _histories(results, CLOCKS[kind])
    valid = f"valid/{metric}" if f"valid/{metric}" in set(points["metric"]) else "valid/loss"
    labels = {
        valid: f"validation {title(valid.removeprefix('valid/'))}",
        "train/loss": "training loss",
    }
    shown = points[points["metric"].isin(labels)].copy()
    unit, size = time_unit(shown["time"].max() if len(shown) else 0.0)
    shown["time"] /= size
    figures = []
    for metric_name, label in labels.items():
        of_metric = shown[shown["metric"] == metric_name]
        lines: dict[str, list[go.Scatter]] = {"updates": [], "time": []}
        ends = []
        for (system, seed), curve in of_metric.groupby(["system", "seed"], sort=False):
            for over in lines:
                lines[over].append(_line(results[system], system, seed, over, curve))
            ends.append(f"{results[system].name} seed {seed} {curve['value'].iloc[-1]:.2f}")
        if ends:
            name, caption = metric_name.replace("/", "-"), f"at the end: {', '.join(ends)}"
            clock = f"{kind} of one seed ({unit})"
            figures += curve_charts(name, label, lines, clock, caption, metric=metric_name)
    return figures


def curve_charts(
    name: str,
    label: str,
    lines: Mapping[str, Sequence[go.Scatter]],
    clock: str,
    caption: str,
    height: int = 300,
    metric: str = "",
) -> list[Figure]:
    """Return charts of curves against updates and against time, the keys of `lines`; `clock` is
    the title of the axis of time, `metric` that of a record of training, such as `valid/bleu`."""
    axis = within_bounds(metric.rpartition("/")[2])
    figures = []
    for over, traces in lines.items():
        heading = f"{label[0].upper()}{label[1:]} against {over}"
        x = clock if over == "time" else over
        drawing = chart(traces, x, label, height=height, yaxis=axis)
        figures.append(Figure(f"{name}-{over}", heading, f"{heading}; {caption}", drawing))
    return figures


def _histories(results: Sequence[SystemResult], clock: str) -> pd.DataFrame:
    """Return a row for every system, seed, metric and record; `clock` is the metric of times."""
    rows = []
    for system, result in enumerate(results):
        for seed, records in result.histories.items():
            for record, time in zip(records, training_seconds(records, clock), strict=True):
                rows += [
                    (system, seed, name, record["update"], time, v)
                    for name, v in record["metrics"].items()
                ]
    return pd.DataFrame(rows, columns=["system", "seed", "metric", "updates", "time", "value"])


def thin_curve(curve: pd.DataFrame, max_points: int, *columns: str) -> list[list[float | None]]:
    """Return columns of a curve at `max_points` evenly spaced rows, both ends included; None for
    values not finite."""
    kept = curve.iloc[np.unique(np.linspace(0, len(curve) - 1, max_points).round().astype(int))]
    return [
        [float(f"{value:.6g}") if math.isfinite(value) else None for value in kept[column]]
        for column in columns
    ]


def _line(
    result: SystemResult, system: int, seed: int, over: str, curve: pd.DataFrame
) -> go.Scatter:
    x, y = thin_curve(curve, MAX_POINTS, over, "value")
    mode, width = "lines+markers" if len(x) <= 60 else "lines", 2 if len(result.runs) == 1 else 1.3
    hover = f", seed {seed}: %{{y:.3~f}} at %{{x:,.6~g}}"
    return trace(result.name, system_style(system), x, y, hover, mode=mode, width=width, size=5)


def pareto_front(comparison: Comparison) -> list[Row]:
    """Return the rows that no other beats in both score and cost, by the metric that decides.

    Cheapest first.
    """
    metric, sign = comparison.metrics[0], 1 if comparison.lower_is_better else -1
    kept: list[Row] = []
    for row, _ in sorted(
        _costed(comparison), key=lambda item: (item[1], sign * item[0].scores[metric].value)
    ):
        if not kept or sign * (row.scores[metric].value - kept[-1].scores[metric].value) < 0:
            kept.append(row)
    return kept


def _costed(comparison: Comparison) -> list[tuple[Row, float]]:
    """Return the systems that have the deciding score and a training time, with the time."""
    known = [(row, comparison.seconds(row)) for row in comparison.rows]
    metric = comparison.metrics[0]
    return [(row, time) for row, time in known if time is not None and metric in row.scores]


def score_against_cost(
    comparison: Comparison, styles: Mapping[str, Style] | None = None
) -> list[Figure]:
    """Draw the deciding score with its interval against training time, and the Pareto front.

    None for one system, and where times of different devices cannot be compared.
    With `styles`, by address, systems without one are drawn small and without interval.
    """
    metric, best = comparison.metrics[0], pareto_front(comparison)
    costed = _costed(comparison)
    if len(costed) < 2 or not on_one_device([row.cost for row, _ in costed if row.cost]):
        return []
    unit, size = time_unit(max(seconds for _, seconds in costed))
    own_styles = {row.address: system_style(index) for index, row in enumerate(comparison.rows)}
    drawn = own_styles if styles is None else styles
    kind, times = comparison.time_kind, {row.name: time for row, time in costed}
    on_front = [(row, times[row.name] / size, row.scores[metric].value) for row in best]
    _, x, y = zip(*on_front, strict=True)
    line = {"color": COLOURS[0], "shape": "hv", "width": 1.5}
    traces = [
        go.Scatter(
            mode="lines", name="front", hoverinfo="skip", showlegend=False, x=x, y=y, line=line
        )
    ]
    for row, seconds in sorted(
        costed, key=lambda item: item[0].address in drawn
    ):  # highlighted ones are on top
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
    label = f"{title(metric)} on {comparison.test_label}"
    values = ", ".join(f"{row.name} {y:.1f} in {x:.1f} {unit}" for row, x, y in on_front)
    clock, axis = f"{kind} of one seed ({unit})", within_bounds(metric)
    figure = chart(traces, clock, label, height=380, legend=styles is None, yaxis=axis)
    caption = f"On the line, the Pareto front, no system is both better and cheaper: {values}."
    return [Figure("cost", f"{label} against {kind}", caption, figure)]


def training_seconds(records: Sequence[Record], clock: str = "train/seconds") -> list[float]:
    """Return the training time at every record, without pauses between restarts where training
    recorded it."""
    measured = [
        (record["update"], record["metrics"][clock])
        for record in records
        if clock in record["metrics"]
    ]
    if not measured:
        return [record["time"] - records[0]["time"] for record in records]
    updates, times = zip((0, 0.0), *measured, strict=True)
    return [
        float(time) for time in np.interp([record["update"] for record in records], updates, times)
    ]
