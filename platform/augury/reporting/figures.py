"""Charts: points, bars and intervals of systems in their styles, over titled axes."""

from __future__ import annotations

import html
import json
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from augury.reporting.styles import Style

LINE = 30
"""The maximum number of characters in a line of the title of a vertical axis."""


@dataclass(frozen=True)
class Figure:
    """A chart with its caption."""

    name: str
    caption: str
    chart: go.Figure

    def to_dict(self) -> dict[str, Any]:
        """Return the chart as Plotly's JSON-like values."""
        return dict(json.loads(self.chart.to_json()))


def chart(traces: Sequence[go.Scatter], x: str, y: str, height: int) -> go.Figure:
    """Return a chart of traces; `x` and `y` are the titles of axes.

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
    return figure


def trace(
    name: str,
    style: Style,
    x: Sequence[Any],
    y: Sequence[Any],
    hover: str,
    *,
    lines: bool = False,
    **options: Any,
) -> go.Scatter:
    """Return the points of the system `name` in its style.

    `hover` is the text of a point after the name, in Plotly's format; `options` are Plotly's.
    """
    shown = html.escape(name)
    return go.Scatter(
        x=x,
        y=y,
        name=shown,
        mode="lines+markers" if lines else "markers",
        line={"color": style.colour, "dash": style.dash, "width": 1.5},
        marker={"color": style.colour, "symbol": style.symbol, "size": 4 if lines else 10},
        hovertemplate=f"{shown}{hover}<extra></extra>",
        **options,
    )


def error_bars(value: float, low: float, high: float) -> dict[str, Any]:
    """Return the error bars of one point."""
    ends = {"array": [high - value], "arrayminus": [value - low]}
    return {"type": "data", "symmetric": False, "thickness": 1.5, **ends}
