"""How charts look, as data for Plotly: colours, dashes and symbols, axes, numbers a chart can show."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np

# Each is at least three times as bright, or as dark, as the page in light and in dark; the baseline is grey.
COLOURS = ("#7b828c", "#3f7be0", "#d2691e", "#2a9461", "#a25fd0", "#d8485a", "#1a93a0", "#8f8118")
DASHES = {"dot": "2 3", "solid": "", "dash": "8 4", "dashdot": "8 3 2 3", "longdash": "12 4"}
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "star", "triangle-down", "pentagon", "cross")


@dataclass(frozen=True)
class Look:
    """How a system is drawn wherever it occurs; it can be told apart without colour."""

    colour: str
    dash: str
    symbol: str


@dataclass(frozen=True)
class Figure:
    """A chart with what it says in words."""

    name: str
    title: str
    caption: str
    plot: dict[str, Any]
    narrowest: int = 0
    """Pixels; on a narrower screen it scrolls."""


def look(index: int) -> Look:
    """The look of the system at a position of the comparison."""
    return Look(COLOURS[index % len(COLOURS)], list(DASHES)[index % len(DASHES)], SYMBOLS[index % len(SYMBOLS)])


def plot(data: list[dict[str, Any]], x: str, y: str) -> dict[str, Any]:
    """A chart of these traces on axes with these titles."""
    axis = {"zeroline": False, "automargin": True, "ticks": "", "showline": False}
    return {
        "data": data,
        "layout": {
            "height": 300,
            "margin": {"l": 52, "r": 12, "t": 8, "b": 44},
            "showlegend": False,
            "hovermode": "closest",
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"size": 13},
            "xaxis": {**axis, "title": {"text": html.escape(x)}, "rangemode": "tozero"},
            "yaxis": {**axis, "title": {"text": html.escape(y)}},
        },
    }


def numbers(values: np.ndarray) -> list[float | None]:
    """Values rounded to what a chart can show; what is not finite leaves a gap."""
    return [float(f"{value:.6g}") if np.isfinite(value) else None for value in values.tolist()]


def time_unit(longest: float) -> tuple[str, float]:
    """The unit for an axis up to `longest` seconds, and its length in seconds."""
    if longest < 300:
        return "seconds", 1.0
    return ("minutes", 60.0) if longest < 18_000 else ("hours", 3600.0)
