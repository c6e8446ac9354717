"""The learning curves of a sweep, and the styles of its configurations in charts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd
import plotly.graph_objects as go

from augury.reporting.figures import Figure, curve_charts, thin_curve, trace
from augury.reporting.numbers import adaptive, time_unit
from augury.reporting.styles import OTHER, Style, system_style
from augury.reporting.sweeps.summary import ConfigurationResult, Summary

HIGHLIGHTED = 6
"""The number of configurations with their own colour besides the reference.

More could not be distinguished.
"""
MAX_POINTS = 120
"""The maximum number of points of a line."""


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
