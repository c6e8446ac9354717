"""Learning curves of the systems of an experiment or of a sweep: a line per seed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from augury.reporting.figures import Figure, chart, trace
from augury.reporting.results import SystemResult
from augury.reporting.styles import OTHER, Style
from augury.training import history

COLUMNS = ["address", "name", "seed", "metric", "updates", "value"]
MAX_POINTS = 200
"""The maximum number of points of a line; a chart has no room for more."""


def learning_curves(
    points: pd.DataFrame, labels: Mapping[str, str], styles: Mapping[str, Style]
) -> list[Figure]:
    """Return each metric of `labels` against updates, with a line per seed.

    `points` have COLUMNS; lines of systems without a style, by address, are faint and below.
    Metrics without records are left out.
    """
    figures = []
    for metric, label in labels.items():
        curves = points[points["metric"] == metric].groupby(["address", "seed"], sort=False)
        lines = []
        for (address, seed), curve in sorted(curves, key=lambda item: item[0][0] in styles):
            name, style = curve["name"].iloc[0], styles.get(address, OTHER)
            kept = np.linspace(0, len(curve) - 1, MAX_POINTS).round().astype(int)
            shown = curve.iloc[np.unique(kept)]
            values = [float(f"{at:.6g}") if math.isfinite(at) else None for at in shown["value"]]
            hover = f", seed {seed}: %{{y:.3~f}} at %{{x:,.6~g}}"
            at = shown["updates"].tolist()
            lines.append(trace(name, style, at, values, hover, lines=True))
        if lines:
            heading = f"{label[0].upper()}{label[1:]} against updates"
            drawing = chart(lines, "updates", label, height=320)
            figures.append(Figure(metric.replace("/", "-"), heading, drawing))
    return figures


def recorded(results: Sequence[SystemResult]) -> pd.DataFrame:
    """Return everything that training has recorded, in COLUMNS."""
    rows = []
    for result in results:
        for seed, run in result.runs.items():
            for record in history.read(run):
                for name, value in record["metrics"].items():
                    rows.append((result.address, result.name, seed, name, record["update"], value))
    return pd.DataFrame(rows, columns=COLUMNS)
