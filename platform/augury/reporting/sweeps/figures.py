"""The charts of a sweep: learning curves, decisions of the race, score against cost, parallel coordinates."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from augury.reporting.figures import Figure, chart, error_bars, numbers
from augury.reporting.looks import OTHER, Look, look
from augury.reporting.numbers import adaptive, adaptive_interval, seeds, time_unit
from augury.reporting.sweeps.axes import Axis
from augury.reporting.sweeps.response import varying
from augury.reporting.sweeps.summary import ConfigurationResult, Summary
from augury.sweeping.state import Decision, Point

HIGHLIGHTED = 6
"""Configurations with a colour besides the reference; more are not told apart."""
POINTS = 120
"""Of a line at most."""
GREY, FAINT = "#7b828c", "rgba(128,136,147,0.25)"
ACTIONS = {
    "promoted": ("#2a9461", "triangle-up"),
    "chosen": ("#3f7be0", "star"),
    "stopped": ("#d8485a", "x"),
    "seed added": ("#8f8118", "circle-open"),
}


def looks(summary: Summary) -> dict[str, Look]:
    """Return the look of the reference and of the best configurations in every chart, by address.

    The others are drawn as `OTHER`.
    """
    reference = summary.sweep.reference
    racing = [result.address for result in summary.ranking if result.mean is not None and result.state != "stopped"]
    best = [address for address in racing if address != reference][:HIGHLIGHTED]
    return {reference: look(0)} | {address: look(index) for index, address in enumerate(best, start=1)}


def learning_curves(summary: Summary, drawn: Mapping[str, Look]) -> list[Figure]:
    """Draw the metric against updates and against training time: means over seeds, bands from least to most.

    Where seeds have ended before others, the mean goes on over those that are left.
    """
    curves = [
        (result, of_seeds)
        for result in summary.ranking
        if (of_seeds := [trial.curve for trial in result.configuration.trials if trial.curve])
    ]
    if not curves:
        return []
    label = summary.metric
    unit, size = time_unit(max(curve[-1].seconds for _, of_seeds in curves for curve in of_seeds))
    best = ", ".join(f"{result.name} {adaptive(result.mean)}" for result, _ in curves[:HIGHLIGHTED])
    curves.sort(key=lambda item: item[0].address in drawn)  # highlighted ones are on top
    figures = []
    for over, axis in (("updates", "updates"), ("time", f"training time ({unit})")):
        traces = [
            trace
            for result, of_seeds in curves
            for trace in _curve(result, of_seeds, drawn.get(result.address), None if over == "updates" else size)
        ]
        heading = f"{label[0].upper()}{label[1:]} against {over}"
        figures.append(
            Figure(f"curves-{over}", heading, f"{heading}; best so far: {best}", chart(traces, axis, label, height=380))
        )
    return figures


def _curve(
    result: ConfigurationResult, curves: Sequence[Sequence[Point]], drawn: Look | None, second_size: float | None
) -> list[go.Scatter]:
    """Return a configuration's mean over seeds, and the band around it where the configuration is highlighted.

    The mean is against time in units of `second_size`, or against updates where that is None.
    """
    longest = max(map(len, curves))
    kept = np.unique(np.linspace(0, longest - 1, min(longest, POINTS)).round().astype(int))
    columns = [[curve[index] for curve in curves if len(curve) > index] for index in kept]
    x = numbers([np.mean([p.seconds / second_size if second_size else p.update for p in points]) for points in columns])
    values = [[point.value for point in points] for points in columns]
    name, own, stopped = html.escape(result.name), drawn or OTHER, result.state == "stopped"
    line = go.Scatter(
        mode="lines" if longest > 1 else "markers",
        name=name,
        x=x,
        y=numbers([np.mean(column) for column in values]),
        line={
            "color": own.colour,
            "dash": own.dash if drawn else "dot" if stopped else "solid",
            "width": 2.2 if drawn else 1,
        },
        marker={"color": own.colour, "symbol": own.symbol, "size": 7},
        hovertemplate=f"{name}{', stopped' if stopped else ''}: %{{y:.3~f}} at %{{x:,.4~g}}<extra></extra>",
    )
    if drawn is None or len(curves) < 2:
        return [line]
    low, high = (numbers([reach(column) for column in values]) for reach in (min, max))
    edge = {"mode": "lines", "x": x, "line_width": 0, "hoverinfo": "skip"}
    return [go.Scatter(y=low, **edge), go.Scatter(y=high, fill="tonexty", fillcolor=f"{own.colour}26", **edge), line]


def rungs(summary: Summary) -> list[Figure]:
    """Draw the decisions of the race, a chart for each rung: the intervals it saw, the cut, and the actions."""
    sweep, figures = summary.sweep, []
    for rung in sorted({decision.rung for decision in summary.decisions}):
        last = {decision.address: decision for decision in summary.decisions if decision.rung == rung}
        ordered = sorted(last.values(), key=lambda decision: decision.mean, reverse=sweep.mode == "max")
        cut = go.Scatter(
            mode="lines",
            name="cut",
            x=list(range(1, len(ordered) + 1)),
            y=[decision.cut for decision in ordered],
            hovertemplate="cut %{y:.4~g}<extra></extra>",
            line={"color": GREY, "dash": "dash", "shape": "hvh", "width": 1.5},
        )
        actions = [action for action in ACTIONS if any(decision.action == action for decision in ordered)]
        counts = ", ".join(f"{sum(d.action == action for d in ordered)} {action}" for action in actions)
        heading = f"Rung {rung}, {rung_time(ordered[0])}: {counts}"
        traces = [cut, *(_decided(summary, ordered, action) for action in actions)]
        figure = chart(traces, "configurations, best first", summary.metric, legend=True)
        figure.update_xaxes(showticklabels=False, showgrid=False, rangemode="normal")
        figures.append(Figure(f"rung-{rung}", heading, heading, figure))
    return figures


def rung_time(decision: Decision) -> str:
    """Return when the rung of a decision is: `after 2 validations`."""
    if decision.validations is None:
        return "at the end of training"
    return f"after {decision.validations} validation{'' if decision.validations == 1 else 's'}"


def _decided(summary: Summary, ordered: Sequence[Decision], action: str) -> go.Scatter:
    """Return the intervals of one action, at the ranks that the configurations have by their means."""
    colour, symbol = ACTIONS[action]
    ranked = [(rank, decision) for rank, decision in enumerate(ordered, start=1) if decision.action == action]
    names = summary.sweep.by_address
    return go.Scatter(
        mode="markers",
        name=action,
        x=[rank for rank, _ in ranked],
        y=[decision.mean for _, decision in ranked],
        error_y=error_bars([(decision.mean, decision.low, decision.high) for _, decision in ranked], width=0),
        marker={"color": colour, "symbol": symbol, "size": 8},
        text=[
            f"{html.escape(names[decision.address].name)}: {action} with "
            f"{adaptive_interval(decision.mean, decision.low, decision.high)}, {seeds(decision.seeds)}"
            for _, decision in ranked
        ],
        hovertemplate="%{text}<extra></extra>",
    )


def parallel_coordinates(summary: Summary, drawn: Mapping[str, Look]) -> Figure | None:
    """Draw a line for every configuration through its values, its score and its training time.

    None where fewer than two keys vary or fewer than two configurations have a score. Configurations without one of
    the keys, such as a plain baseline beside the space, have no line.
    """
    keys = varying(summary)
    shown = [
        result
        for result in summary.ranking
        if result.mean is not None and all(axis.has(result.configuration) for axis in keys)
    ]
    if len(keys) < 2 or len(shown) < 2:
        return None
    unit, size = time_unit(max(result.seconds or 0.0 for result in shown))
    measured = {
        summary.metric: np.array([result.mean for result in shown], dtype=float),
        f"training time ({unit})": np.array([result.seconds or 0.0 for result in shown]) / size,
    }
    ticks = [{axis.share(position): text for position, text in axis.ticks().items()} or _ends(axis) for axis in keys]
    ticks += [
        {0.0: f"{values.min():.3g}", 1.0: f"{values.max():.3g}"} if np.ptp(values) else {0.5: f"{values[0]:.3g}"}
        for values in measured.values()
    ]
    columns = [[axis.share(axis.position(axis.index(item.configuration))) for item in shown] for axis in keys]
    columns += [
        list((values - values.min()) / np.ptp(values) if np.ptp(values) else values * 0 + 0.5)
        for values in measured.values()
    ]
    traces = []
    for result, shares in zip(shown, zip(*columns, strict=True), strict=True):
        own = drawn.get(result.address)
        text = f"{html.escape(result.name)}: {summary.metric} {adaptive(result.mean)}, {result.state_text}"
        colour = own.colour if own else FAINT if result.state == "stopped" else OTHER.colour
        traces.append(
            go.Scatter(
                mode="lines",
                name=html.escape(result.name),
                x=list(range(len(shares))),
                y=[round(float(share), 4) for share in shares],
                text=[text] * len(shares),
                line={"color": colour, "dash": (own or OTHER).dash, "width": 2.2 if own else 1},
                hovertemplate="%{text}<extra></extra>",
            )
        )
    figure = chart(traces[::-1], "", "", height=380)  # the best are on top
    figure.update_layout(margin={"l": 30, "r": 60, "t": 34, "b": 16})
    for index, (name, places) in enumerate(zip([*(axis.name for axis in keys), *measured], ticks, strict=True)):
        figure.add_annotation(
            x=index, y=1, yshift=22, text=f"<b>{html.escape(name)}</b>", showarrow=False, font_size=12
        )
        for y, text in places.items():
            figure.add_annotation(
                x=index, y=y, text=html.escape(text), showarrow=False, xanchor="left", xshift=5, font_size=11
            )
    figure.update_xaxes(
        tickvals=list(range(len(ticks))), showticklabels=False, gridwidth=2, range=[-0.15, len(ticks) - 0.5]
    )
    figure.update_yaxes(visible=False, range=[-0.05, 1.05])
    heading = "From the values of every configuration to its score and cost"
    caption = f"{heading}; best: {shown[0].name} with {summary.metric} {adaptive(shown[0].mean)}"
    return Figure("parallel", heading, caption, figure, narrowest=150 * len(ticks))


def _ends(axis: Axis) -> dict[float, str]:
    """Return the least and the greatest value of an axis that has no room for all."""
    return {0.0: axis.label(0), 1.0: axis.label(len(axis.values) - 1)}
