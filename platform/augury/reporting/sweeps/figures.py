"""The charts of how a sweep went: learning curves by configuration, the decisions at the rungs, score against cost."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from augury.reporting.charts import Figure, Look, look, numbers, plot, time_unit
from augury.reporting.sweeps.summary import Standing, Summary
from augury.reporting.sweeps.wording import between, measured, seeds, stands_at, written
from augury.reporting.table import Row, Table
from augury.scoring.metrics import title
from augury.sweeping.state import Decision, Point

HIGHLIGHTED = 6  # besides the reference; more colours are not told apart
POINTS = 120  # of a line at most
OTHER = Look("rgba(128,136,147,0.42)", "solid", "circle")
ACTIONS = {
    "promoted": ("#2a9461", "triangle-up"),
    "chosen": ("#3f7be0", "star"),
    "stopped": ("#d8485a", "x"),
    "seed added": ("#8f8118", "circle-open"),
}


def looks(summary: Summary) -> dict[str, Look]:
    """How the reference and the best configurations are drawn in every chart, by address; the others are `OTHER`."""
    reference = summary.sweep.reference
    rivals = [each.address for each in summary.standings if each.mean is not None and each.state != "stopped"]
    best = [address for address in rivals if address != reference][:HIGHLIGHTED]
    return {reference: look(0)} | {address: look(place) for place, address in enumerate(best, start=1)}


def learning_curves(summary: Summary, drawn: Mapping[str, Look]) -> list[Figure]:
    """The metric against updates and against training time; lines are means over seeds, bands reach from least to most.

    Where seeds have ended before others, the mean goes on over those that are left.
    """
    curves = {
        each.address: [trial.curve for trial in each.configuration.trials if trial.curve] for each in summary.standings
    }
    known = [each for each in summary.standings if curves[each.address]]
    if not known:
        return []
    label = measured(summary.sweep.metric)
    unit, size = time_unit(max(curve[-1].seconds for each in known for curve in curves[each.address]))
    ordered = sorted(known, key=lambda each: each.address in drawn)  # what is highlighted lies on top
    figures = []
    for over, axis in (("updates", "updates"), ("time", f"training time ({unit})")):
        data = [
            trace
            for each in ordered
            for trace in _curve(each, curves[each.address], drawn.get(each.address), over, size)
        ]
        heading = f"{label[0].upper()}{label[1:]} against {over}"
        best = ", ".join(f"{each.name} {written(each.mean)}" for each in known[:HIGHLIGHTED])
        chart = plot(data, axis, label)
        chart["layout"] |= {"height": 380}
        figures.append(Figure(f"curves-{over}", heading, f"{heading}; best so far: {best}", chart))
    return figures


def rungs(summary: Summary) -> list[Figure]:
    """The decisions of the race, a chart for each rung: the intervals it saw, the cut, and what it did."""
    sweep = summary.sweep
    label = measured(sweep.metric)
    figures = []
    for rung in sorted({decision.rung for decision in summary.decisions}):
        last = {decision.address: decision for decision in summary.decisions if decision.rung == rung}
        ordered = sorted(last.values(), key=lambda each: each.mean, reverse=sweep.mode == "max")
        counts = ", ".join(
            f"{count} {action}" for action in ACTIONS if (count := sum(each.action == action for each in ordered))
        )
        data = [
            _decided(summary, ordered, action) for action in ACTIONS if any(each.action == action for each in ordered)
        ]
        cut = {
            "type": "scatter",
            "mode": "lines",
            "name": "cut",
            "x": list(range(1, len(ordered) + 1)),
            "y": [each.cut for each in ordered],
            "hovertemplate": "cut %{y:.4~g}<extra></extra>",
            "line": {"color": "#7b828c", "dash": "dash", "shape": "hvh", "width": 1.5},
        }
        heading = f"Rung {rung}, {stands_at(ordered[0])}: {counts}"
        chart = plot([cut, *data], "configurations, best first", label)
        chart["layout"] |= {"showlegend": True, "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"}}
        chart["layout"]["xaxis"] |= {"showticklabels": False, "showgrid": False, "rangemode": "normal"}
        figures.append(Figure(f"rung-{rung}", heading, heading, chart))
    return figures


def front(table: Table) -> list[Row]:
    """The rows of which none is both better, by the metric that decides, and cheaper; cheapest first."""
    metric, sign = table.metrics[0], 1 if table.lower_is_better else -1
    priced = [
        (row.cost.train_seconds, sign * row.scores[metric].value, place)
        for place, row in enumerate(table.rows)
        if row.cost and metric in row.scores
    ]
    kept: list[tuple[float, Row]] = []
    for _, lack, place in sorted(priced):
        if not kept or lack < kept[-1][0]:
            kept.append((lack, table.rows[place]))
    return [row for _, row in kept]


def score_against_cost(summary: Summary, drawn: Mapping[str, Look]) -> Figure | None:
    """The deciding test score against training time, with the front that nothing beats in both; None before a score."""
    if not summary.tables:
        return None
    table = summary.tables[0]
    metric = table.metrics[0]
    rows = [row for row in table.rows if row.cost and metric in row.scores]
    best = front(table)
    if not best:
        return None
    unit, size = time_unit(max(row.cost.train_seconds for row in rows if row.cost))
    line = {
        "type": "scatter",
        "mode": "lines",
        "name": "front",
        "hoverinfo": "skip",
        "x": [row.cost.train_seconds / size for row in best if row.cost],
        "y": [row.scores[metric].value for row in best],
        "line": {"color": "#7b828c", "shape": "hv", "width": 1.5},
    }
    data = [
        _priced(row, row.scores[metric], row.cost.train_seconds / size, unit, row in best, drawn.get(row.address))
        for row in sorted(rows, key=lambda row: row.address in drawn)
        if row.cost
    ]
    heading = f"{title(metric)} on {table.where} against training time"
    said = ", ".join(
        f"{row.name} {row.scores[metric].value:.1f} in {row.cost.train_seconds / size:.1f} {unit}"
        for row in best
        if row.cost
    )
    chart = plot([line, *data], f"training time of one seed ({unit})", f"{title(metric)} on {table.where}")
    chart["layout"] |= {"height": 400}
    return Figure("cost", heading, f"{heading}; nothing is both better and cheaper than: {said}", chart)


def _curve(
    standing: Standing, curves: Sequence[Sequence[Point]], drawn: Look | None, over: str, size: float
) -> list[dict[str, Any]]:
    """A configuration's mean over seeds, and the band around it where the configuration is highlighted."""
    longest = max(map(len, curves))
    at = np.unique(np.linspace(0, longest - 1, min(longest, POINTS)).round().astype(int))
    reached = [[curve[index] for curve in curves if len(curve) > index] for index in at]
    x = np.array(
        [
            np.mean([point.update if over == "updates" else point.seconds / size for point in points])
            for points in reached
        ]
    )
    values = [[point.value for point in points] for points in reached]
    name, own = html.escape(standing.name), drawn or OTHER
    faint = standing.state == "stopped"
    line = {
        "type": "scatter",
        "mode": "lines" if longest > 1 else "markers",
        "name": name,
        "x": numbers(x),
        "y": numbers(np.array([np.mean(each) for each in values])),
        "line": {
            "color": own.colour,
            "dash": own.dash if drawn else "dot" if faint else "solid",
            "width": 2.2 if drawn else 1,
        },
        "marker": {"color": own.colour, "symbol": own.symbol, "size": 7},
        "hovertemplate": f"{name}{', stopped' if faint else ''}: %{{y:.3~f}} at %{{x:,.4~g}}<extra></extra>",
    }
    if drawn is None or len(curves) < 2:
        return [line]
    edge = {"type": "scatter", "mode": "lines", "x": numbers(x), "line": {"width": 0}, "hoverinfo": "skip"}
    low, high = (numbers(np.array([reach(each) for each in values])) for reach in (min, max))
    return [edge | {"y": low}, edge | {"y": high, "fill": "tonexty", "fillcolor": f"{own.colour}26"}, line]


def _decided(summary: Summary, ordered: Sequence[Decision], action: str) -> dict[str, Any]:
    """The intervals of one action, at the places that the configurations have by their means."""
    colour, symbol = ACTIONS[action]
    found = [(place, each) for place, each in enumerate(ordered, start=1) if each.action == action]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": action,
        "x": [place for place, _ in found],
        "y": [each.mean for _, each in found],
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [each.high - each.mean for _, each in found],
            "arrayminus": [each.mean - each.low for _, each in found],
            "thickness": 1.3,
            "width": 0,
        },
        "marker": {"color": colour, "symbol": symbol, "size": 8},
        "text": [
            f"{html.escape(summary.sweep.by_address[each.address].name)}: {action} with "
            f"{between(each.mean, each.low, each.high)}, {seeds(each.seeds)}"
            for _, each in found
        ],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _priced(row: Row, score: Any, x: float, unit: str, on_front: bool, drawn: Look | None) -> dict[str, Any]:
    own, name = drawn or OTHER, html.escape(row.name)
    point: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [x],
        "y": [score.value],
        "marker": {
            "color": own.colour,
            "symbol": own.symbol,
            "size": 11 if drawn else 8,
            "line": {"width": 2 if on_front else 0, "color": "#7b828c"},
        },
        "hovertemplate": f"{name}{', on the front' if on_front else ''}: %{{y:.1f}} [{score.low:.1f}, {score.high:.1f}]"
        f" after %{{x:.2f}} {unit}<extra></extra>",
    }
    if drawn:
        point["error_y"] = {
            "type": "data",
            "symmetric": False,
            "array": [score.high - score.value],
            "arrayminus": [score.value - score.low],
            "thickness": 1.2,
            "width": 0,
        }
    return point
