"""The charts of a sweep: differences to the reference, learning curves, parallel coordinates, what
was trained when, and the decisions of the race."""

from __future__ import annotations

import html
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from augury.core.progress import duration
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
from augury.reporting.sweeps.axes import TICKS
from augury.reporting.sweeps.response import varying_axes
from augury.reporting.sweeps.summary import ConfigurationResult, Summary
from augury.scoring.registry import title
from augury.sweeping.state import Point, Sweep, Trial

HIGHLIGHTED = 6
"""The number of configurations with their own colour besides the reference.

More could not be distinguished.
"""
MAX_POINTS = 120
"""The maximum number of points of a line."""
GREY, FAINT = COLOURS[0], "rgba(128,136,147,0.25)"
ACTIONS = {
    "chosen": ("#3f7be0", "star"),
    "seed added": ("#8f8118", "circle-open"),
}
NAME_WIDTH = 18
"""Characters of a line of a name at the side of a chart."""
LINE_HEIGHT, TEXT_HEIGHT, MARGINS = 26, 15, 90
"""Pixels of a system in a chart, and of what is around them."""
PAUSE_SECONDS = 60.0
"""A longer time between two validations, beyond that of training, is drawn as a pause."""
STATE_COLOURS = {
    "finished": COLOURS[3],
    "stopped": COLOURS[5],
    "running": COLOURS[1],
    "failed": COLOURS[2],
    "waiting": COLOURS[0],
}


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


def parallel_coordinates(summary: Summary, styles: Mapping[str, Style]) -> list[Figure]:
    """Draw a line for every configuration through the ranks of its values, its score and its
    training time.

    No chart where fewer than two keys vary or fewer than two configurations have a score.
    Configurations without one of the keys, such as a baseline outside the space, have no line.
    """
    keys = varying_axes(summary)
    shown = [
        result
        for result in summary.ranking
        if result.mean is not None and all(key.key in result.configuration.point for key in keys)
    ]
    if len(keys) < 2 or len(shown) < 2:
        return []
    columns: dict[str, tuple[np.ndarray, dict[float, str]]] = {}
    for axis in keys:
        ranks = np.array([axis.index(result.configuration.point) for result in shown])
        last = len(axis.values) - 1
        marked = range(0, last + 1, max(1, len(axis.values) // TICKS))
        columns[axis.name] = ranks / last, {rank / last: axis.label(rank) for rank in marked}
    seconds = np.array([result.seconds or 0.0 for result in shown])
    unit, size = time_unit(seconds.max())
    columns[summary.metric] = _scaled(np.array([result.mean for result in shown], dtype=float))
    columns[f"wall time ({unit})"] = _scaled(seconds / size)
    traces = []
    for result, *shares in zip(shown, *(shares for shares, _ in columns.values()), strict=True):
        highlight = styles.get(result.address)
        style = highlight or (replace(OTHER, colour=FAINT) if result.state == "stopped" else OTHER)
        hover = html.escape(f": {summary.metric} {adaptive(result.mean)}, {result.state}")
        y, width = [round(float(share), 4) for share in shares], 2.2 if highlight else 1
        traces.append(trace(result.name, style, None, y, hover, mode="lines", width=width))
    margin = {"l": 30, "r": 60, "t": 34, "b": 16}
    figure = chart(traces[::-1], "", "", height=380, margin=margin)  # the best on top
    options: dict[str, Any] = {"showarrow": False, "font_size": 11}
    for x, (name, (_, ticks)) in enumerate(columns.items()):
        text = f"<b>{html.escape(name)}</b>"
        figure.add_annotation(
            options | {"x": x, "y": 1, "text": text, "yshift": 22, "font_size": 12}
        )
        for share, tick in ticks.items():
            text, place = html.escape(tick), {"xanchor": "left", "xshift": 5}
            figure.add_annotation(options | place | {"x": x, "y": share, "text": text})
    ends = [-0.15, len(columns) - 0.5]
    figure.update_xaxes(dtick=1, showticklabels=False, gridwidth=2, range=ends)
    figure.update_yaxes(visible=False, range=[-0.05, 1.05])
    what = "From the values of every configuration to its score and the time of one seed"
    caption = f"{what}; best: {shown[0].name} with {summary.metric} {adaptive(shown[0].mean)}"
    return [Figure("parallel", what, caption, figure, min_width=150 * len(columns))]


def _scaled(values: np.ndarray) -> tuple[np.ndarray, dict[float, str]]:
    """Return values scaled from 0 (minimum) to 1 (maximum), with these two as ticks."""
    low, high = values.min(), values.max()
    if low == high:
        return np.full(len(values), 0.5), {0.5: f"{low:.3g}"}
    return (values - low) / (high - low), {0.0: f"{low:.3g}", 1.0: f"{high:.3g}"}


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


def lanes(summary: Summary) -> list[Figure]:
    """Draw when every configuration was trained, a line for each seed, with the decisions on it."""
    sweep = summary.sweep
    begun = [
        (result, trials)
        for result in summary.ranking[::-1]  # the best on top
        if (trials := [trial for trial in result.configuration.trials if trial.curve])
    ]
    if not begun:
        return []
    latest = max(trial.curve[-1].time for _, trials in begun for trial in trials)
    x, at = _clock(sweep, latest)
    traces: list[go.Scatter] = []
    for place, (result, trials) in enumerate(begun):
        for number, trial in enumerate(trials, start=1):
            y = place + 0.5 * (number / (len(trials) + 1) - 0.5)
            for start, end in _segments(trial.curve):
                traces.append(_segment(result.name, trial, at(start), at(end), y))
    places = {result.address: place for place, (result, _) in enumerate(begun)}
    for action, (colour, symbol) in ACTIONS.items():
        known = [item for item in summary.sweep.decisions if item.configuration in places]
        if decided := [decision for decision in known if decision.action == action]:
            markers = go.Scatter(
                mode="markers",
                name=action,
                x=[at(decision.time) for decision in decided],
                y=[places[decision.configuration] for decision in decided],
                marker={"color": colour, "symbol": symbol, "size": 9},
                hovertemplate=f"{action}<extra></extra>",
            )
            traces.append(markers)
    names = [result.name for result, _ in begun]
    figure = chart(traces, x, "", height=_height(names), legend=True)
    _name_lines(figure, names)
    caption = (
        f"What was trained when, a line for each seed: {duration(sweep.seconds)} of training in "
        f"{duration(latest - sweep.started)}"
    )
    return [Figure("lanes", caption, caption, figure)]


def occupancy(summary: Summary) -> list[Figure]:
    """Draw how many trials trained at a time: where it falls, cores had nothing to train."""
    sweep = summary.sweep
    changes: Counter[float] = Counter()
    for _, trial in sweep.trials:
        for begin, end in _segments(trial.curve) if trial.curve else ():
            changes[begin] += 1
            changes[end] -= 1
    if not changes:
        return []
    times = sorted(changes)
    counts = [*accumulate(changes[time] for time in times)]
    spans, at_once = np.diff(times), np.array(counts[:-1])
    trained = spans[at_once > 0].sum()
    mean = (spans * at_once).sum() / trained if trained else 0.0
    x, at = _clock(sweep, times[-1])
    line = go.Scatter(
        mode="lines",
        x=[min(0.0, at(times[0])), *map(at, times)],
        y=[0, *counts],
        line={"color": STATE_COLOURS["running"], "shape": "hv", "width": 1.5},
        fill="tozeroy",
        fillcolor=FAINT,
        hovertemplate="%{y} in training<extra></extra>",
    )
    figure = chart([line], x, "trials in training", height=160)
    figure.update_yaxes(rangemode="tozero", dtick=max(1, max(counts) // 4))
    caption = (
        f"Trials in training at a time: at most {max(counts)}, {mean:.1f} on average while any "
        "trained; scoring and the start of a trial are no training"
    )
    return [Figure("occupancy", caption, caption, figure)]


def _clock(sweep: Sweep, latest: float) -> tuple[str, Callable[[float], float]]:
    """Return the title of an axis of time up to `latest`, and the place of a Unix time on it."""
    unit, size = time_unit(max(1.0, latest - sweep.started))
    title = f"{unit} since {datetime.fromtimestamp(sweep.started, UTC):%H:%M} UTC"
    return title, lambda time: round((time - sweep.started) / size, 4)


def _segments(curve: Sequence[Point]) -> list[tuple[float, float]]:
    """Return the begins and ends of a training between its pauses, in Unix time."""
    begin = curve[0].time - curve[0].seconds
    segments, last = [(begin, curve[0].time)], curve[0]
    for point in curve[1:]:
        waited = point.time - last.time - (point.seconds - last.seconds)
        if waited > PAUSE_SECONDS:
            segments.append((point.time - (point.seconds - last.seconds), point.time))
        else:
            segments[-1] = segments[-1][0], point.time
        last = point
    return segments


def _segment(name: str, trial: Trial, start: float, end: float, y: float) -> go.Scatter:
    hover = f"{html.escape(name)}, seed {trial.seed}: {trial.progress}<extra></extra>"
    return go.Scatter(
        mode="lines",
        x=[start, end],
        y=[y, y],
        line={"color": STATE_COLOURS[trial.progress], "width": 5},
        showlegend=False,
        hovertemplate=hover,
    )


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
