"""Parallel coordinates: a line for every configuration through its swept values, its score and its cost."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from augury.reporting.charts import Figure, Look, plot, time_unit
from augury.reporting.sweeps.axes import Axis, axes
from augury.reporting.sweeps.figures import OTHER
from augury.reporting.sweeps.summary import Standing, Summary
from augury.reporting.sweeps.wording import measured, written

FAINT = "rgba(128,136,147,0.25)"


@dataclass(frozen=True)
class Scale:
    """One of the vertical axes."""

    name: str
    ticks: Mapping[float, str]
    """Places from 0 to 1, and what is written there."""


def parallel_coordinates(summary: Summary, drawn: Mapping[str, Look]) -> Figure | None:
    """The swept keys, the metric and the training time; None where fewer than two keys vary or nothing has a score.

    Configurations without one of the keys, such as a plain baseline beside the space, have no line.
    """
    keys = [axis for axis in axes(summary.sweep.keys, summary.sweep.configurations) if len(axis.values) > 1]
    shown = [
        each
        for each in summary.standings
        if each.mean is not None and all(axis.has(each.configuration) for axis in keys)
    ]
    if len(keys) < 2 or len(shown) < 2:
        return None
    means = np.array([each.mean for each in shown], dtype=float)
    unit, size = time_unit(max(each.seconds or 0.0 for each in shown))
    times = np.array([each.seconds or 0.0 for each in shown]) / size
    label = measured(summary.sweep.metric)
    scales = [*map(_keyed, keys), _measured(label, means), _measured(f"training time ({unit})", times)]
    columns = [[axis.share(axis.place(axis.index(each.configuration))) for each in shown] for axis in keys]
    lines = zip(*columns, _share(means), _share(times), strict=True)
    data = [_line(each, line, drawn.get(each.address), label) for each, line in zip(shown, lines, strict=True)]
    chart = plot(data[::-1], "", "")  # the best lie on top
    chart["layout"] |= {
        "height": 380,
        "margin": {"l": 30, "r": 60, "t": 34, "b": 16},
        "annotations": [
            {
                "x": place,
                "y": y,
                "text": html.escape(text),
                "showarrow": False,
                "xanchor": "left",
                "xshift": 5,
                "font": {"size": 11},
                "name": "tick",
            }
            for place, scale in enumerate(scales)
            for y, text in scale.ticks.items()
        ]
        + [
            {
                "x": place,
                "y": 1.0,
                "yshift": 22,
                "text": f"<b>{html.escape(scale.name)}</b>",
                "showarrow": False,
                "font": {"size": 12},
            }
            for place, scale in enumerate(scales)
        ],
    }
    chart["layout"]["xaxis"] |= {
        "tickvals": list(range(len(scales))),
        "showticklabels": False,
        "gridwidth": 2,
        "range": [-0.15, len(scales) - 0.5],
        "rangemode": "normal",
    }
    chart["layout"]["yaxis"] |= {"visible": False, "range": [-0.05, 1.05]}
    heading = "From the values of every configuration to its score and cost"
    best = shown[0]
    return Figure(
        "parallel",
        heading,
        f"{heading}; best: {best.name} with {label} {written(best.mean)}",
        chart,
        narrowest=150 * len(scales),
    )


def _keyed(axis: Axis) -> Scale:
    return Scale(axis.name, {axis.share(place): text for place, text in axis.ticks().items()})


def _measured(name: str, values: np.ndarray) -> Scale:
    low, high = float(values.min()), float(values.max())
    shares = (0.0, 0.5, 1.0) if high > low else (0.5,)
    return Scale(name, {share: f"{low + share * (high - low):.3g}" for share in shares})


def _share(values: np.ndarray) -> list[float]:
    """Values as places from 0 to 1."""
    reach = float(values.max() - values.min())
    return [float(value) for value in ((values - values.min()) / reach if reach else np.full(len(values), 0.5))]


def _line(standing: Standing, places: Sequence[float], drawn: Look | None, label: str) -> dict[str, Any]:
    own = drawn or OTHER
    colour = own.colour if drawn or standing.state != "stopped" else FAINT
    told = f"{html.escape(standing.name)}: {label} {written(standing.mean)}, {standing.stands}"
    return {
        "type": "scatter",
        "mode": "lines",
        "name": html.escape(standing.name),
        "x": list(range(len(places))),
        "y": [round(place, 4) for place in places],
        "text": [told] * len(places),
        "line": {"color": colour, "dash": own.dash, "width": 2.2 if drawn else 1, "shape": "spline", "smoothing": 0.4},
        "hovertemplate": "%{text}<extra></extra>",
    }
