"""The charts of the page, as data for Plotly: learning curves, and score against cost."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from augury.reporting.charts import Figure, look, numbers, plot, time_unit
from augury.reporting.results import SystemResult
from augury.reporting.table import Table
from augury.scoring.metrics import title
from augury.training import history
from augury.training.history import Record

POINTS = 400  # of a line at most; a chart has no room for more


@dataclass(frozen=True)
class Curve:
    """A metric of one seed over training; equally long arrays."""

    system: int
    seed: int
    updates: np.ndarray
    times: np.ndarray
    """Seconds of training."""
    values: np.ndarray


def learning_curves(results: Sequence[SystemResult], metric: str) -> list[Figure]:
    """Validation score and training loss, each against updates and against training time.

    `metric` is the one that decides; the validation loss stands in where it was not measured in training. A chart of
    which nothing was recorded is left out.
    """
    curves = _curves(results)
    valid = f"valid/{metric}" if f"valid/{metric}" in curves else "valid/loss"
    labels = {
        valid: f"validation {title(metric)}" if valid != "valid/loss" else "validation loss",
        "train/loss": "training loss",
    }
    unit, size = time_unit(max((curve.times[-1] for group in curves.values() for curve in group), default=0.0))
    figures = []
    for name, label in labels.items():
        group = curves.get(name, [])
        ends = ", ".join(f"{results[one.system].name} seed {one.seed} {one.values[-1]:.2f}" for one in group)
        for over, axis in (("updates", "updates"), ("time", f"training time ({unit})")):
            data = [
                _line(
                    results[one.system],
                    one,
                    one.updates if over == "updates" else one.times / size,
                    markers=name == valid,
                )
                for one in group
            ]
            heading = f"{label[0].upper()}{label[1:]} against {over}"
            figure = Figure(
                f"{name.replace('/', '-')}-{over}", heading, f"{heading}; at the end: {ends}", plot(data, axis, label)
            )
            figures += [figure] if group else []
    return figures


def score_against_cost(results: Sequence[SystemResult], table: Table) -> Figure | None:
    """The deciding score, with its interval, against training time; None before anything is scored."""
    metric = table.metrics[0]
    shown = [
        (index, row, row.scores[metric], row.cost)
        for index, row in enumerate(table.rows)
        if metric in row.scores and row.cost
    ]
    if not shown:
        return None
    unit, size = time_unit(max(cost.train_seconds for _, _, _, cost in shown))
    data = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": html.escape(row.name),
            "x": [cost.train_seconds / size],
            "y": [score.value],
            "error_y": {
                "type": "data",
                "symmetric": False,
                "array": [score.high - score.value],
                "arrayminus": [score.value - score.low],
                "thickness": 1.5,
            },
            "marker": {"color": look(index).colour, "symbol": look(index).symbol, "size": 11},
            "hovertemplate": f"{html.escape(row.name)}: %{{y:.1f}} after %{{x:.2f}} {unit}<extra></extra>",
        }
        for index, row, score, cost in shown
    ]
    said = ", ".join(
        f"{row.name} {score.value:.1f} in {cost.train_seconds / size:.1f} {unit}" for _, row, score, cost in shown
    )
    drawn = plot(data, f"training time of one seed ({unit})", f"{title(metric)} on {table.where}")
    drawn["layout"] |= {
        "height": 360,
        "showlegend": True,
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"},
    }
    heading = f"{title(metric)} on {table.where} against training time"
    return Figure("cost", heading, f"{heading}: {said}", drawn)


def seconds(records: Sequence[Record]) -> list[float]:
    """The training time at every record, pauses between restarts left out where training recorded it."""
    measured = [
        (record["update"], record["metrics"]["train/seconds"])
        for record in records
        if "train/seconds" in record["metrics"]
    ]
    if not measured:
        return [record["time"] - records[0]["time"] for record in records]
    updates, times = zip((0, 0.0), *measured, strict=True)
    return [float(time) for time in np.interp([record["update"] for record in records], updates, times)]


def _curves(results: Sequence[SystemResult]) -> dict[str, list[Curve]]:
    """The curves of every metric in the histories, evenly thinned where they have too many points."""
    curves: dict[str, list[Curve]] = {}
    for system, result in enumerate(results):
        for seed, folder in result.runs.items():
            records = history.read(folder)
            points: dict[str, list[tuple[float, float, float]]] = {}
            for record, time in zip(records, seconds(records), strict=True):
                for name, value in record["metrics"].items():
                    points.setdefault(name, []).append((record["update"], time, value))
            for name, found in points.items():
                kept = np.linspace(0, len(found) - 1, min(len(found), POINTS)).round().astype(int)
                curves.setdefault(name, []).append(Curve(system, seed, *np.array(found, dtype=float)[kept].T))
    return curves


def _line(result: SystemResult, curve: Curve, x: np.ndarray, markers: bool) -> dict[str, Any]:
    name, drawn = html.escape(result.name), look(curve.system)
    return {
        "type": "scatter",
        "mode": "lines+markers" if markers else "lines",
        "name": name,
        "x": numbers(x),
        "y": numbers(curve.values),
        "line": {"color": drawn.colour, "dash": drawn.dash, "width": 2 if len(result.runs) == 1 else 1.3},
        "marker": {"color": drawn.colour, "symbol": drawn.symbol, "size": 5},
        "hovertemplate": f"{name}, seed {curve.seed}: %{{y:.3~f}} at %{{x:,.6~g}}<extra></extra>",
    }
