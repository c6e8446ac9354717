"""Charts: points, bars and intervals of systems in their styles, over titled axes."""

from __future__ import annotations

import html
import json
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from augury.reporting.styles import Style
from augury.scoring.registry import bounds

LINE = 30
"""The maximum number of characters in a line of the title of a vertical axis."""
IntervalEnds = tuple[float, float, float]
"""A value and the ends of its interval."""


@dataclass(frozen=True)
class Figure:
    """A chart with its caption."""

    name: str
    caption: str
    chart: go.Figure

    def to_dict(self) -> dict[str, Any]:
        """Return the chart as Plotly's JSON-like values."""
        return dict(json.loads(self.chart.to_json()))


def chart(
    traces: Sequence[go.Scatter | go.Bar],
    x: str,
    y: str,
    height: int = 300,
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
        showlegend=False,
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
) -> go.Scatter:
    """Return the points of the system `name` in its style, with the error bars `ends`.

    `hover` is the text of a point after the name, in Plotly's format; `options` are Plotly's.
    """
    shown = html.escape(name)
    options |= {"name": shown, "x": x, "y": y, "hovertemplate": f"{shown}{hover}<extra></extra>"}
    options["error_y"] = error_bars(ends) if ends else None
    if "lines" in mode:
        options["line"] = {"color": style.colour, "dash": style.dash, "width": width}
    if "markers" in mode:
        options["marker"] = {"color": style.colour, "symbol": style.symbol, "size": size}
    return go.Scatter(mode=mode, **options)


def error_bars(values: Sequence[IntervalEnds]) -> dict[str, Any]:
    """Return the error bars of (value, low, high)."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [high - value for value, _, high in values],
        "arrayminus": [value - low for value, low, _ in values],
        "thickness": 1.5,
    }
