"""The charts of a sweep: differences to the reference, and learning curves."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd
import plotly.graph_objects as go

from augury.reporting.figures import (
    Figure,
    chart,
    curve_charts,
    error_bars,
    thin_curve,
    trace,
)
from augury.reporting.numbers import adaptive, p_text, time_unit
from augury.reporting.styles import COLOURS, OTHER, Style, system_style
from augury.reporting.sweeps.summary import ConfigurationResult, Summary
from augury.scoring.registry import title

HIGHLIGHTED = 6
"""The number of configurations with their own colour besides the reference.

More could not be distinguished.
"""
MAX_POINTS = 120
"""The maximum number of points of a line."""
GREY = COLOURS[0]
NAME_WIDTH = 18
"""Characters of a line of a name at the side of a chart."""
LINE_HEIGHT, TEXT_HEIGHT, MARGINS = 26, 15, 90
"""Pixels of a system in a chart, and of what is around them."""


def configuration_styles(summary: Summary) -> dict[str, Style]:
    """Return the style of the reference and of the best configurations in every chart, by address.

    The others are drawn as `OTHER`.
    """
    reference = summary.sweep.reference
    racing = [
        result.address
        for result in summary.ranking
        if result.mean is not None and result.state != "stopped"
    ]
    best = [address for address in racing if address != reference][:HIGHLIGHTED]
    return {reference: system_style(0)} | {
        address: system_style(index) for index, address in enumerate(best, start=1)
    }


def learning_curves(summary: Summary, styles: Mapping[str, Style]) -> list[Figure]:
    """Draw the metric against updates and against training time: means over seeds, bands from
    minimum to maximum.

    Where some seeds have ended, the mean is over the others.
    """
    recorded = pd.DataFrame(
        [
            (result.address, point.validation, point.update, point.seconds, point.value)
            for result in summary.ranking
            for trial in result.configuration.trials
            for point in trial.curve
        ],
        columns=["address", "validation", "updates", "time", "value"],
    )
    if recorded.empty:
        return []
    unit, size = time_unit(recorded["time"].max())
    recorded["time"] /= size
    recorded["low"] = recorded["high"] = recorded["value"]
    aggregations = {"updates": "mean", "time": "mean", "value": "mean", "low": "min", "high": "max"}
    curves = dict(
        list(recorded.groupby(["address", "validation"]).agg(aggregations).groupby("address"))
    )
    known = [result for result in summary.ranking if result.address in curves]
    best = ", ".join(f"{result.name} {adaptive(result.mean)}" for result in known[:HIGHLIGHTED])
    lines: dict[str, list[go.Scatter]] = {"updates": [], "time": []}
    for result in sorted(known, key=lambda result: result.address in styles):  # highlights on top
        for over in lines:
            lines[over] += _curve(result, curves[result.address], styles, over)
    clock, caption = f"wall time of one seed ({unit})", f"best so far: {best}"
    metric = summary.sweep.metric
    return curve_charts("curves", summary.metric, lines, clock, caption, height=380, metric=metric)


def _curve(
    result: ConfigurationResult, curve: pd.DataFrame, styles: Mapping[str, Style], over: str
) -> list[go.Scatter]:
    """Return a configuration's mean over seeds, with the band behind it if the configuration is
    highlighted."""
    x, values, low, high = thin_curve(curve, MAX_POINTS, over, "value", "low", "high")
    highlight, stopped = styles.get(result.address), result.state == "stopped"
    hover = f"{', stopped' if stopped else ''}: %{{y:.3~f}} at %{{x:,.4~g}}"
    mode = "lines" if len(x) > 1 else "markers"
    if highlight is None:
        faint = replace(OTHER, dash="dot" if stopped else "solid")
        return [trace(result.name, faint, x, values, hover, mode=mode, width=1)]
    line = trace(result.name, highlight, x, values, hover, mode=mode, width=2.2)
    if low == high:
        return [line]
    band = {
        "fill": "toself",
        "fillcolor": f"{highlight.colour}26",
        "line_width": 0,
        "hoverinfo": "skip",
    }
    return [go.Scatter(mode="lines", x=x + x[::-1], y=low + high[::-1], **band), line]


def forest(summary: Summary, styles: Mapping[str, Style]) -> list[Figure]:
    """Draw the tested differences to the reference with their intervals, the best on top."""
    deciding = summary.deciding
    tested = [row for row in deciding.rows if row.tested] if deciding else []
    if deciding is None or not tested:
        return []
    ordered = sorted(tested, key=lambda row: deciding.gain(row) or 0.0)
    traces = []
    for place, scored in enumerate(ordered):
        assert scored.tested is not None
        value, ends = scored.tested.value, (scored.tested.low, scored.tested.high)
        p_value = f", {p_text(scored.corrected)}" if scored.corrected is not None else ""
        hover = f": {html.escape(scored.difference_text)}{p_value}"
        style = styles.get(scored.address, OTHER)
        point = trace(scored.name, style, [value], [place], hover, mode="markers", size=10)
        point.error_x = error_bars([(value, *ends)])
        traces.append(point)
    metric, reference = title(deciding.metrics[0]), summary.reference.name
    label = f"{metric} on {deciding.test_label}: difference to {reference}"
    better = "left" if deciding.lower_is_better else "right"
    short = f"difference in {metric}"  # the caption says it all; on a phone it would be cut
    names = [f"{row.name}{row.mark}" for row in ordered]
    figure = chart(traces, short, "", height=_height(names))
    figure.update_xaxes(rangemode="normal")
    figure.add_vline(x=0, line={"color": GREY, "dash": "dot", "width": 1.5})
    _name_lines(figure, names)
    caption = f"{label}, with intervals of 95 %: {better} of the line is better"
    return [Figure("forest", caption, caption, figure)]


def _height(names: Sequence[str]) -> int:
    """Return the height of a chart that has these names at its side, in pixels."""
    most = max(len(textwrap.wrap(name, NAME_WIDTH)) for name in names)
    return MARGINS + max(LINE_HEIGHT, TEXT_HEIGHT * most) * len(names)


def _name_lines(figure: go.Figure, names: Sequence[str]) -> None:
    """Write names at the side of a chart, the first one lowest."""
    wrapped = ["<br>".join(map(html.escape, textwrap.wrap(name, NAME_WIDTH))) for name in names]
    figure.update_yaxes(
        tickvals=list(range(len(names))), ticktext=wrapped, range=[-0.7, len(names) - 0.3]
    )
