"""Learning curves of the systems of an experiment or of a sweep: a line per seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from augury.reporting.figures import Figure, chart, thin_curve, trace, within_bounds
from augury.reporting.notes import listed
from augury.reporting.numbers import adaptive, time_unit
from augury.reporting.results import CLOCKS, SystemResult
from augury.reporting.styles import OTHER, Style
from augury.training.history import Record

COLUMNS = ["address", "name", "seed", "metric", "updates", "time", "value"]
MAX_POINTS = 200
"""The maximum number of points of a line; a chart has no room for more."""


def learning_curves(
    points: pd.DataFrame, labels: Mapping[str, str], kind: str, styles: Mapping[str, Style]
) -> list[Figure]:
    """Return each metric of `labels` against updates and against training time of this kind, with a
    line per seed.

    `points` have COLUMNS; lines of systems without a style, by address, are faint and below.
    Metrics without records are left out.
    """
    unit, size = time_unit(points["time"].max() if len(points) else 0.0)
    figures = []
    for metric, label in labels.items():
        curves = points[points["metric"] == metric].groupby(["address", "seed"], sort=False)
        drawn = sorted(curves, key=lambda item: item[0][0] in styles)
        ends = listed(
            [f"{of['name'].iloc[0]} {adaptive(of['value'].iloc[-1])}" for _, of in curves]
        )
        for over, x in (("updates", "updates"), ("time", f"{kind} of one seed ({unit})")):
            lines = []
            for (address, seed), curve in drawn:
                scaled = curve.assign(time=curve["time"] / size)
                at, values = thin_curve(scaled, MAX_POINTS, over, "value")
                mode = "lines+markers" if len(at) <= 60 else "lines"
                hover = f", seed {seed}: %{{y:.3~f}} at %{{x:,.6~g}}"
                style, width = styles.get(address, OTHER), 1.5 if address in styles else 1
                name = curve["name"].iloc[0]
                lines.append(trace(name, style, at, values, hover, mode=mode, width=width, size=5))
            if lines:
                heading = f"{label[0].upper()}{label[1:]} against {over}"
                axis = within_bounds(metric.rpartition("/")[2])
                drawing = chart(lines, x, label, height=320, yaxis=axis)
                name, caption = (
                    f"{metric.replace('/', '-')}-{over}",
                    f"{heading}; at the end: {ends}",
                )
                figures.append(Figure(name, heading, caption, drawing))
    return figures


def recorded(results: Sequence[SystemResult], kind: str) -> pd.DataFrame:
    """Return everything that training has recorded, in COLUMNS; `kind` is that of its times."""
    rows = []
    for result in results:
        for seed, records in result.histories.items():
            times = training_seconds(records, CLOCKS[kind])
            for record, time in zip(records, times, strict=True):
                for name, value in record["metrics"].items():
                    of_run = (result.address, result.name, seed)
                    rows.append((*of_run, name, record["update"], time, value))
    return pd.DataFrame(rows, columns=COLUMNS)


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
