"""Learning curves of systems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from augury.reporting.figures import Figure, curve_charts, thin_curve, trace
from augury.reporting.numbers import time_unit
from augury.reporting.results import CLOCKS, SystemResult, time_kind
from augury.reporting.styles import system_style
from augury.scoring.registry import title
from augury.training.history import Record

MAX_POINTS = 400
"""The maximum number of points of a line; a chart has no room for more."""


def learning_curves(results: Sequence[SystemResult], metric: str) -> list[Figure]:
    """Return validation score and training loss, each against updates and against training time,
    with a line per seed.

    `metric` is the one that decides; where training did not measure it, the validation loss takes
    its place. Charts without records are left out.
    """
    kind = time_kind([result.cost for result in results if result.cost])
    points = _histories(results, CLOCKS[kind])
    recorded = set(points["metric"])
    valid = metric if f"valid/{metric}" in recorded else "loss"
    labels = {f"valid/{valid}": f"validation {title(valid)}", "train/loss": "training loss"}
    shown = points[points["metric"].isin(labels)].copy()
    unit, size = time_unit(shown["time"].max() if len(shown) else 0.0)
    shown["time"] /= size
    figures = []
    for name in [name for name in labels if name in recorded]:
        lines: dict[str, list[go.Scatter]] = {"updates": [], "time": []}
        ends = []
        curves = shown[shown["metric"] == name].groupby(["system", "seed"], sort=False)
        for (system, seed), curve in curves:
            for over in lines:
                lines[over].append(_line(results[system], system, seed, over, curve))
            ends.append(f"{results[system].name} seed {seed} {curve['value'].iloc[-1]:.2f}")
        caption, clock = f"at the end: {', '.join(ends)}", f"{kind} of one seed ({unit})"
        figures += curve_charts(
            name.replace("/", "-"), labels[name], lines, clock, caption, metric=name
        )
    return figures


def _histories(results: Sequence[SystemResult], clock: str) -> pd.DataFrame:
    """Return a row for every system, seed, metric and record; `clock` is the metric of times."""
    rows = []
    for system, result in enumerate(results):
        for seed, records in result.histories.items():
            for record, time in zip(records, training_seconds(records, clock), strict=True):
                for name, value in record["metrics"].items():
                    rows.append((system, seed, name, record["update"], time, value))
    return pd.DataFrame(rows, columns=["system", "seed", "metric", "updates", "time", "value"])


def training_seconds(records: Sequence[Record], clock: str = "train/seconds") -> list[float]:
    """Return the training time at every record, without pauses between restarts where training
    recorded it."""
    measured = [(0, 0.0)]
    for record in records:
        if clock in record["metrics"]:
            measured.append((record["update"], record["metrics"][clock]))
    if len(measured) == 1:
        return [record["time"] - records[0]["time"] for record in records]
    updates, times = zip(*measured, strict=True)
    between = np.interp([record["update"] for record in records], updates, times)
    return list(map(float, between))


def _line(
    result: SystemResult, system: int, seed: int, over: str, curve: pd.DataFrame
) -> go.Scatter:
    x, y = thin_curve(curve, MAX_POINTS, over, "value")
    mode, width = "lines+markers" if len(x) <= 60 else "lines", 2 if len(result.runs) == 1 else 1.3
    hover = f", seed {seed}: %{{y:.3~f}} at %{{x:,.6~g}}"
    return trace(result.name, system_style(system), x, y, hover, mode=mode, width=width, size=5)
