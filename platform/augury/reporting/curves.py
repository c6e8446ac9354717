"""Curves of systems: of learning, with the best validation after equal times, and against noise."""

from __future__ import annotations

import html
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from augury.core.progress import duration
from augury.corpora.noise import KINDS
from augury.reporting.figures import Figure, chart, curve_charts, thin_curve, trace, within_bounds
from augury.reporting.numbers import spread, time_unit
from augury.reporting.results import CLOCKS, SystemResult, deviation, on_one_device, time_kind
from augury.reporting.styles import system_style
from augury.reporting.tables import Cell, Table, table
from augury.scoring.registry import lower_is_better, title
from augury.training.history import Record

SECTION, NOISE = "corpus.tests.", "noise."
MAX_POINTS = 400
"""The maximum number of points of a line; a chart has no room for more."""
SHARES = (0.125, 0.25, 0.5, 0.75, 1.0)
"""The times at which systems are compared, as shares of the longest training."""


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


def equal_time(results: Sequence[SystemResult], metric: str) -> Table | None:
    """Return the best validation by `metric` at equal times: mean ± standard deviation over seeds.

    A seed whose training has ended keeps its best. None where fewer than two systems recorded it,
    where they were trained on different devices, and where a system consists of several trainings,
    whose times do not add up in one curve.
    """
    costs = [result.cost for result in results if result.cost]
    if any(cost.trainings > 1 for cost in costs) or not on_one_device(costs):
        return None
    kind = time_kind(costs)
    curves = {result.name: _curves(result, f"valid/{metric}", CLOCKS[kind]) for result in results}
    curves = {name: of_seeds for name, of_seeds in curves.items() if of_seeds and all(of_seeds)}
    if len(curves) < 2:
        return None
    longest = max(max(curve) for of_seeds in curves.values() for curve in of_seeds)
    times = [share * longest for share in SHARES]
    rows = []
    for name, of_seeds in curves.items():
        best = [[_best(curve, time, metric) for curve in of_seeds] for time in times]
        rows.append([name, len(of_seeds), *map(_mean_cell, best)])
    note = (
        f"best validation {title(metric)} within the {kind} of one seed: mean ± standard "
        "deviation over seeds"
    )
    return table(["system", "seeds", *map(duration, times)], rows, notes=(note,))


def _curves(result: SystemResult, metric: str, clock: str) -> list[Mapping[float, float]]:
    """Return time -> validation for every seed."""
    return [
        {
            record["metrics"][clock]: record["metrics"][metric]
            for record in records
            if metric in record["metrics"] and clock in record["metrics"]
        }
        for records in result.histories.values()
    ]


def _best(curve: Mapping[float, float], time: float, metric: str) -> float | None:
    """Return the best value up to a time; None before the first validation."""
    values = [value for at, value in curve.items() if at <= time and math.isfinite(value)]
    return (min if lower_is_better(metric) else max)(values, default=None)


def _mean_cell(values: Sequence[float | None]) -> Cell | None:
    """Return the mean and the standard deviation over seeds; None where a seed was not validated
    yet."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    mean = statistics.fmean(known)
    return Cell(spread(mean, deviation(known)), mean)


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


Series = tuple[tuple[str, ...], list[tuple[float, str]]]
"""Kinds of noise, and test sets that differ only in its rate: (rate, name), sorted."""


def robustness_curves(results: Sequence[SystemResult], metric: str) -> list[Figure]:
    """Draw a metric against the rate of noise, a line for every system and a chart for every
    series of test sets."""
    figures = []
    common = [
        test for test in results[0].tests if all(result.score(test, metric) for result in results)
    ]
    for number, (kinds, tests) in enumerate(noise_series(results[0].record.parameters, common)):
        noise, ((low, first), *_, (high, last)) = " and ".join(kinds), tests
        traces = [_noise_line(result, index, tests, metric) for index, result in enumerate(results)]
        summary = ", ".join(
            f"{result.name} {result.values[first][metric]:.1f} to {result.values[last][metric]:.1f}"
            for result in results
        )
        heading = f"{title(metric)} against noise ({noise}), {low:g} to {high:g}"
        axis = within_bounds(metric)
        drawing = chart(traces, f"rate of noise: {noise}", title(metric), yaxis=axis)
        figures.append(Figure(f"noise-{number}", heading, f"{heading}: {summary}", drawing))
    return figures


def noise_series(parameters: Mapping[str, Any], tests: Sequence[str]) -> list[Series]:
    """Return the series among the test sets of an experiment, given its settings by dotted keys.

    All kinds of noise in a test set of a series have the same rate; without noise the rate is 0.
    Sets whose rates are estimated are in none.
    """
    groups: dict[Any, list[tuple[float, str]]] = {}
    clean: dict[str, list[tuple[float, str]]] = {}
    for test in tests:
        section = f"{SECTION}{test}."
        settings = {
            key.removeprefix(section): value
            for key, value in parameters.items()
            if key.startswith(section)
        }
        of_noise = [key for key in settings if key.startswith(NOISE)]
        noise = {key.removeprefix(NOISE): settings.pop(key) for key in of_noise}
        rates = {kind: rate for kind in KINDS if (rate := noise.pop(kind, 0.0))}
        text = repr(sorted(settings.items()))
        if "like" in noise:
            continue
        if not rates:
            clean.setdefault(text, []).append((0.0, test))
        elif len(set(rates.values())) == 1:
            group = text, tuple(rates), repr(sorted(noise.items()))
            groups.setdefault(group, []).append((next(iter(rates.values())), test))
    series = []
    for (text, kinds, _), noisy in groups.items():
        known = sorted([*clean.get(text, [])[:1], *noisy])
        if len(known) > 1:
            series.append((kinds, known))
    return series


def _noise_line(
    result: SystemResult, index: int, tests: Sequence[tuple[float, str]], metric: str
) -> go.Scatter:
    scores = [result.tests[test][metric] for _, test in tests]
    return trace(
        result.name,
        system_style(index),
        [rate for rate, _ in tests],
        [score.value for score in scores],
        " on %{text}",
        ends=[score.ends for score in scores],
        text=[
            f"{html.escape(name)}: {of.text}" for (_, name), of in zip(tests, scores, strict=True)
        ],
    )
