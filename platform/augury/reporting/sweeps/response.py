"""How a score responds to the swept keys: charts for one key, a shaded table for two, and the importance of each."""

from __future__ import annotations

import html
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import plotly.graph_objects as go

from augury.reporting.figures import Figure, chart, error_bars
from augury.reporting.looks import COLOURS
from augury.reporting.numbers import MISSING, adaptive, adaptive_interval, seeds
from augury.reporting.sweeps.axes import Axis, axes
from augury.reporting.sweeps.summary import Summary
from augury.reporting.tables import Cell, Table, table
from augury.scoring.metrics import title
from augury.sweeping.state import Configuration

GREY, BLUE = COLOURS[0], COLOURS[1]
DENSE = 0.5
"""The share of its cells that a table of two keys must fill."""
BINS = 4
"""Groups of neighbouring values that a key falls into where nearly every configuration has its own."""


@dataclass(frozen=True)
class Score:
    """A score of a configuration."""

    configuration: Configuration
    mean: float
    low: float | None
    high: float | None
    single: tuple[float, ...]
    """Of the single seeds, where they are shown."""
    seeds: int
    whole: bool
    """Whether any of them was trained to the end."""
    merged: bool = False
    """Whether the point runs once with another one, whose score it is."""

    @property
    def text(self) -> str:
        """The score in words."""
        early = "" if self.whole else ", not trained to the end"
        score = adaptive_interval(self.mean, self.low, self.high)
        return f"{self.configuration.name}: {score}, {seeds(self.seeds)}{early}"


@dataclass(frozen=True)
class Measure:
    """A score of all configurations that have it."""

    name: str
    label: str
    mode: str
    scores: tuple[Score, ...]

    def heading(self, by: str) -> str:
        """Return the title of a chart by a key."""
        return f"{self.label[0].upper()}{self.label[1:]} by {by}"


def measures(summary: Summary) -> list[Measure]:
    """Return the sweep's metric, and the deciding score of the first test set; each once two configurations have it."""
    ranked = [result for result in summary.ranking if result.mean is not None]
    validation = tuple(
        Score(
            result.configuration,
            result.mean,
            result.low,
            result.high,
            tuple(result.values.values()),
            len(result.values),
            result.finished > 0,
        )
        for result in ranked
        if result.mean is not None
    )
    known = [Measure("validation", summary.metric, summary.sweep.mode, _with_merged(summary, validation))]
    if comparison := summary.deciding:
        by_address = summary.sweep.by_address
        scores = tuple(
            Score(by_address[row.address], score.value, score.low, score.high, (), score.seeds, True)
            for row in comparison.rows
            if (score := row.scores.get(comparison.metrics[0]))
        )
        mode = "min" if comparison.lower_is_better else "max"
        label = f"{title(comparison.metrics[0])} on {comparison.where}"
        known.append(Measure("test", label, mode, _with_merged(summary, scores)))
    return [measure for measure in known if len(measure.scores) > 1]


def _with_merged(summary: Summary, scores: Sequence[Score]) -> tuple[Score, ...]:
    """Return scores, and those of the points that are the same experiment as one of them."""
    by_address = {score.configuration.address: score for score in scores}
    merged = [
        replace(score, configuration=item, merged=True)
        for item in merged_points(summary)
        if (score := by_address.get(item.address))
    ]
    return (*scores, *merged)


def merged_points(summary: Summary) -> list[Configuration]:
    """Return the points that run once with another one, under the address of that one."""
    addresses = {item.name: item.address for item in summary.sweep.configurations}
    return [
        Configuration(f"{merged.called} (as {merged.same_as})", addresses[merged.same_as], merged.point, ())
        for merged in summary.sweep.merged
        if merged.same_as in addresses
    ]


def varying(summary: Summary) -> list[Axis]:
    """Return the swept keys that have more than one value."""
    points = [*summary.sweep.configurations, *merged_points(summary)]
    return [axis for axis in axes(summary.sweep.keys, points) if len(axis.values) > 1]


def responses(summary: Summary) -> list[Figure | Table]:
    """Return what fits the number of keys that vary: charts over one key, or tables of two that are dense enough."""
    keys, known = varying(summary), measures(summary)
    if len(keys) == 1:
        return [by_key(summary, measure, keys[0], f"response-{measure.name}") for measure in known]
    if len(keys) == 2 and _filled(summary, *keys) >= DENSE:
        return [two_keys(summary, measure, *keys) for measure in known]
    return [by_key(summary, measure, axis, f"marginal-{axis.key}") for measure in known[:1] for axis in keys]


def by_key(summary: Summary, measure: Measure, axis: Axis, name: str) -> Figure:
    """Draw the score at every value of a key: small dots, and the mean with its interval where any value has several.

    The dots are the seeds where no other key varies, else the configurations. Those that were not trained to the end
    are hollow and no part of a mean.
    """
    shown = [score for score in measure.scores if axis.has(score.configuration)]
    alone = len(varying(summary)) == 1
    groups = [[s for s in shown if s.whole and axis.index(s.configuration) == i] for i in range(len(axis.values))]
    means = [_mean(group) for group in groups if group]
    reference = [s for s in measure.scores if s.configuration.address == summary.sweep.reference]
    traces = []
    if reference and not axis.has(reference[0].configuration):
        line = {"color": GREY, "dash": "dot", "width": 2.2}
        ends = [(index, reference[0].mean, reference[0].text) for index in (0, len(axis.values) - 1)]
        traces.append(_trace(axis, ends, mode="lines", name="reference", line=line))
    if alone or sum(map(len, groups)) >= 2 * len(means):
        traces += [_means(axis, means)] if means else []
    for whole in (True, False):
        dots = [
            (axis.index(score.configuration), value, f"{score.configuration.name}: {adaptive(value)}")
            for score in shown
            if score.whole == whole
            for value in (score.single if alone and whole else (score.mean,))
        ]
        marker = {"color": GREY, "symbol": "circle" if whole else "circle-open", "size": 6 if whole else 8}
        label = ("one seed" if alone else "one configuration") if whole else "not trained to the end"
        traces += [_trace(axis, dots, mode="markers", name=label, marker=marker)] if dots else []
    heading = measure.heading(axis.name)
    values = ", ".join(f"{axis.label(axis.index(score.configuration))}: {adaptive(score.mean)}" for score in means)
    return Figure(name, heading, f"{heading}, means: {values or 'none yet'}", _chart(traces, axis, measure.label))


def two_keys(summary: Summary, measure: Measure, across: Axis, down: Axis) -> Table:
    """Return the mean at every pair of values, with half its interval and the number of seeds.

    Shades say how far it is from the reference, as a share of the farthest that was trained to the end.
    """
    shown = [s for s in measure.scores if across.has(s.configuration) and down.has(s.configuration)]
    whole = [score.mean for score in shown if score.whole] or [score.mean for score in shown] or [0.0]
    reference = [s.mean for s in measure.scores if s.configuration.address == summary.sweep.reference]
    level = reference[0] if reference else statistics.fmean(whole)
    reach = (max(abs(value - level) for value in whole) or 1.0) * (-1 if measure.mode == "min" else 1)
    by_pair = {(down.index(s.configuration), across.index(s.configuration)): s for s in shown}

    def cell(pair: tuple[int, int]) -> Cell:
        if (score := by_pair.get(pair)) is None:
            return Cell(MISSING)
        half = None if score.low is None or score.high is None else (score.high - score.low) / 2
        noise = "" if half is None else f" ± {adaptive(half, like=score.mean)}"
        text = f"{adaptive(score.mean)}{noise} ({score.seeds}){'' if score.whole else ' †'}"
        return Cell(text, score.mean, float(np.clip((score.mean - level) / reach, -1, 1)), hint=score.text)

    columns = [f"{down.name} \\ {across.name}", *map(across.label, range(len(across.values)))]
    rows = [
        [down.label(row), *(cell((row, column)) for column in range(len(across.values)))]
        for row in range(len(down.values))
    ]
    return table(columns, rows, title=measure.heading(f"{across.name} and {down.name}"))


def importance(summary: Summary) -> Table | None:
    """Return the share of the variance of the deciding score that each swept key explains on its own.

    It is epsilon squared over the configurations that were trained to the end: the share of the variance between the
    groups of one value, less what as many random groups would explain. None where fewer than two keys vary.
    """
    keys, known = varying(summary), measures(summary)
    if len(keys) < 2 or not known:
        return None
    scores = [
        s for s in known[-1].scores if s.whole and not s.merged and all(axis.has(s.configuration) for axis in keys)
    ]
    if len(scores) < 4 or len({score.mean for score in scores}) < 2:
        return None
    shares = {axis: _explained(axis, scores) for axis in keys}
    rows = []
    for axis, share in sorted(shares.items(), key=lambda item: -item[1]):
        best = max(scores, key=lambda score: score.mean if known[-1].mode == "max" else -score.mean)
        rows.append(
            [
                Cell(axis.name, hint=axis.key),
                Cell(f"{100 * share:.0f} %", share, share),
                str(len(axis.values)),
                axis.label(axis.index(best.configuration)),
            ]
        )
    notes = (
        f"importance: the share of the variance of {known[-1].label} over {len(scores)} configurations that the key "
        "explains on its own (epsilon squared, which chance does not raise); what is left is interactions and noise",
    )
    return table(["key", "importance", "values", "value of the best"], rows, notes=notes)


def _explained(axis: Axis, scores: Sequence[Score]) -> float:
    """Return epsilon squared of the groups of one value; neighbouring values are a group where most are single."""
    index = np.array([axis.index(score.configuration) for score in scores])
    if len(set(index)) > len(scores) / 2:
        index = np.digitize(index, np.quantile(index, np.linspace(0, 1, BINS + 1)[1:-1]))
    values = np.array([score.mean for score in scores])
    groups = [values[index == group] for group in set(index.tolist())]
    total = float(((values - values.mean()) ** 2).sum())
    within = sum(float(((group - group.mean()) ** 2).sum()) for group in groups)
    free = len(values) - len(groups)
    if free <= 0:
        return 0.0
    return max(0.0, 1 - within / free * (len(values) - 1) / total)


def _filled(summary: Summary, across: Axis, down: Axis) -> float:
    """Return the share of the pairs of values that a configuration has."""
    pairs = {
        (across.index(item), down.index(item))
        for item in (*summary.sweep.configurations, *merged_points(summary))
        if across.has(item) and down.has(item)
    }
    return len(pairs) / (len(across.values) * len(down.values))


def _mean(group: Sequence[Score]) -> Score:
    """Return the mean over configurations that share a value, with the interval that the seeds' noise gives it."""
    halves = [(score.high - score.low) / 2 for score in group if score.low is not None and score.high is not None]
    mean = statistics.fmean(score.mean for score in group)
    half = math.sqrt(sum(width**2 for width in halves)) / len(group) if len(halves) == len(group) else None
    low, high = (None, None) if half is None else (mean - half, mean + half)
    return Score(group[0].configuration, mean, low, high, (), sum(score.seeds for score in group), True)


def _means(axis: Axis, means: Sequence[Score]) -> go.Scatter:
    """Return means with their intervals, joined where the key is a number."""
    points = [
        (index, s.mean, f"{axis.name}={axis.label(index)}: {adaptive_interval(s.mean, s.low, s.high)}")
        for s in means
        for index in [axis.index(s.configuration)]
    ]
    whiskers = error_bars([(score.mean, score.low, score.high) for score in means], width=4, color=BLUE)
    lying = axis.kind == "category"
    return _trace(
        axis,
        points,
        mode="markers" if lying else "lines+markers",
        name="mean",
        line={"color": BLUE, "width": 1.8},
        marker={"color": BLUE, "size": 10},
        **{"error_x" if lying else "error_y": whiskers},
    )


def _trace(axis: Axis, points: Sequence[tuple[int, float, str]], **options: object) -> go.Scatter:
    """Return points (index of the value, score, words) with the key across; categories lie down, to have room."""
    positions, scores = [axis.position(index) for index, _, _ in points], [score for _, score, _ in points]
    x, y = (scores, positions) if axis.kind == "category" else (positions, scores)
    texts = [html.escape(text) for _, _, text in points]
    return go.Scatter(x=x, y=y, text=texts, hovertemplate="%{text}<extra></extra>", **options)


def _chart(traces: Sequence[go.Scatter], axis: Axis, label: str) -> go.Figure:
    """Return a chart over one key."""
    lying = axis.kind == "category"
    figure = chart(traces, label, axis.name) if lying else chart(traces, axis.name, label)
    figure.update_xaxes(rangemode="normal")
    key_axis = figure.layout.yaxis if lying else figure.layout.xaxis
    if lying:
        figure.update_layout(height=130 + 34 * len(axis.values))
        key_axis.range = [len(axis.values) - 0.5, -0.5]
    key_axis.type = "log" if axis.kind == "log" else "linear"
    if ticks := axis.ticks():
        key_axis.update(tickvals=list(ticks), ticktext=[html.escape(text) for text in ticks.values()])
    return figure
