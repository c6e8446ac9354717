"""The response of a score to the swept keys: a chart by one key, a shaded table of two, and the
importance of each."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from augury.reporting.figures import Figure, IntervalEnds, chart, error_bars, within_bounds
from augury.reporting.numbers import MISSING, adaptive, adaptive_interval, seeds
from augury.reporting.styles import COLOURS
from augury.reporting.sweeps.axes import Axis, axes
from augury.reporting.sweeps.summary import Summary
from augury.reporting.tables import Cell, Table, table
from augury.scoring.registry import title

GREY, BLUE = COLOURS[0], COLOURS[1]
DENSE = 0.5
"""The minimum share of cells with a value in a table of two keys."""
BINS = 4
"""The number of groups of neighbouring values for keys of which most configurations have their
own value."""


@dataclass(frozen=True)
class Measure:
    """A score, for all points that have it."""

    name: str
    label: str
    metric: str
    lower_is_better: bool
    points: pd.DataFrame
    """Columns: name, those of `Score`, merged (the same experiment as another point, with that
    one's score), and for every varying key the rank of the value, missing where the point has
    none."""

    def heading(self, by: str) -> str:
        """Return the title of a chart by a key."""
        return f"{self.label[0].upper()}{self.label[1:]} by {by}"


class Score(NamedTuple):
    """The score of a configuration, a row of the points of a measure."""

    address: str
    mean: float
    half: float | None
    """Half the interval; None where it is not known."""
    single: tuple[float, ...]
    """The scores of the seeds, where they are shown."""
    seeds: int
    whole: bool
    """Whether it was trained to the end."""


def measures(summary: Summary) -> list[Measure]:
    """Return the sweep's metric, and the deciding score of the first test set, if at least two
    points have them."""
    sweep, comparison = summary.sweep, summary.deciding
    validated = []
    for item in summary.ranking:
        if item.mean is not None:
            single, whole = tuple(item.values.values()), item.finished > 0
            score = Score(item.address, item.mean, item.half, single, len(single), whole)
            validated.append(score)
    lower, points = sweep.mode == "min", _points(summary, validated)
    known = [Measure("validation", summary.metric, sweep.metric_name, lower, points)]
    if comparison:
        metric, tested = comparison.metrics[0], []
        for row in comparison.rows:
            if of_row := row.scores.get(metric):
                half = max(of_row.high - of_row.value, of_row.value - of_row.low)
                seeds_of = len(of_row.seeds)
                tested.append(Score(row.address, of_row.value, half, (), seeds_of, True))
        label = f"{title(metric)} on {comparison.test_label}"
        points = _points(summary, tested)
        known.append(Measure("test", label, metric, comparison.lower_is_better, points))
    return [measure for measure in known if len(measure.points) > 1]


def _points(summary: Summary, scores: Sequence[Score]) -> pd.DataFrame:
    """Return the scores of the configurations and of the merged points."""
    sweep, keys = summary.sweep, varying_axes(summary)
    addresses = {item.name: item.address for item in sweep.configurations}
    points = [(item.name, item.address, False, item.point) for item in sweep.configurations]
    points += [
        (f"{item.label} (as {item.same_as})", addresses.get(item.same_as, ""), True, item.point)
        for item in sweep.merged
    ]
    names = [axis.key for axis in keys]
    rows = [(*of_point, *(axis.index(point) for axis in keys)) for *of_point, point in points]
    ranked = pd.DataFrame(rows, columns=["name", "address", "merged", *names])
    frame = ranked.merge(pd.DataFrame(scores, columns=Score._fields), on="address")
    return frame.astype({column: float for column in ("mean", "half", *names)})


def varying_axes(summary: Summary) -> list[Axis]:
    """Return the swept keys that have more than one value."""
    sweep = summary.sweep
    points = [item.point for item in sweep.configurations]
    points += [item.point for item in sweep.merged]
    return [axis for axis in axes(sweep.keys, points) if len(axis.values) > 1]


def responses(summary: Summary) -> list[Figure | Table]:
    """Return tables of two varying keys where they are dense enough, otherwise charts by one
    key."""
    keys, known = varying_axes(summary), measures(summary)
    if len(keys) == 1:
        return [
            key_chart(summary, measure, keys[0], f"response-{measure.name}") for measure in known
        ]
    if len(keys) == 2 and known:
        pairs = known[0].points[[axis.key for axis in keys]].dropna().drop_duplicates()
        if len(pairs) >= DENSE * len(keys[0].values) * len(keys[1].values):
            return [pair_table(summary, measure, *keys) for measure in known]
    return [
        key_chart(summary, measure, axis, f"marginal-{axis.key}")
        for measure in known[:1]
        for axis in keys
    ]


def key_chart(summary: Summary, measure: Measure, axis: Axis, name: str) -> Figure:
    """Draw the score at every value of a key: small dots, and the mean with its interval where any
    value has several.

    The dots are seeds where no other key varies, otherwise configurations. Those that were not
    trained to the end are hollow and not part of a mean.
    """
    shown = measure.points.dropna(subset=[axis.key])
    single_key, traces = len(varying_axes(summary)) == 1, []
    reference = measure.points[measure.points["address"] == summary.sweep.reference]
    if len(reference) and reference[axis.key].isna().all():
        level, text = reference["mean"].iloc[0], _text(reference.iloc[0])
        ends = [(0, level, text), (len(axis.values) - 1, level, text)]
        line = {"color": GREY, "dash": "dot", "width": 2.2}
        traces.append(_trace(axis, ends, mode="lines", name="reference", line=line))
    whole, early = shown[shown["whole"]], shown[~shown["whole"]]
    means = []
    for rank, group in whole.groupby(axis.key):
        half = np.sqrt((group["half"] ** 2).sum(skipna=False)) / len(group)
        means.append((int(rank), group["mean"].mean(), float(half)))
    if means and (single_key or len(whole) >= 2 * len(means)):
        traces.append(_means(axis, means))
    if single_key:
        kind, dots = "one seed", whole.explode("single").dropna(subset=["single"])
    else:
        kind, dots = "one configuration", whole.assign(single=whole["mean"])
    early = early.assign(single=early["mean"])
    kinds = [(kind, dots, "circle", 6), ("not trained to the end", early, "circle-open", 8)]
    for label, dots, symbol, size in kinds:
        rows = zip(dots[axis.key].astype(int), dots["single"], dots["name"], strict=True)
        points = [(rank, value, f"{name}: {adaptive(value)}") for rank, value, name in rows]
        marker = {"color": GREY, "symbol": symbol, "size": size}
        if points:
            traces.append(_trace(axis, points, mode="markers", name=label, marker=marker))
    heading = measure.heading(axis.name)
    values = ", ".join(f"{axis.label(rank)}: {adaptive(mean)}" for rank, mean, _ in means)
    caption = f"{heading}, means: {values or 'none yet'}"
    return Figure(name, heading, caption, _chart(traces, axis, measure))


def pair_table(summary: Summary, measure: Measure, across: Axis, down: Axis) -> Table:
    """Return the mean at every pair of values, with half its interval and the number of seeds.

    Shades show the distance from the reference, as a share of the largest one among those trained
    to the end.
    """
    shown = measure.points.dropna(subset=[across.key, down.key])
    settled = shown[shown["whole"]] if shown["whole"].any() else shown
    reference = measure.points.loc[measure.points["address"] == summary.sweep.reference, "mean"]
    level = reference.iloc[0] if len(reference) else settled["mean"].mean()
    reach = (settled["mean"] - level).abs().max() or 1.0
    by_pair = {(row[down.key], row[across.key]): row for _, row in shown.iterrows()}
    sign = -1 if measure.lower_is_better else 1

    def cell(pair: tuple[int, int]) -> Cell:
        if (row := by_pair.get(pair)) is None:
            return Cell(MISSING)
        noise = "" if np.isnan(row["half"]) else f" ± {adaptive(row['half'], like=row['mean'])}"
        text = f"{adaptive(row['mean'])}{noise} ({row['seeds']}){'' if row['whole'] else ' †'}"
        shade = sign * float(np.clip((row["mean"] - level) / reach, -1, 1))
        return Cell(text, row["mean"], shade, hint=_text(row))

    columns, rows = range(len(across.values)), range(len(down.values))
    cells = [[down.label(row), *(cell((row, column)) for column in columns)] for row in rows]
    header = [f"{down.name} \\ {across.name}", *map(across.label, columns)]
    return table(header, cells, title=measure.heading(f"{across.name} and {down.name}"))


def importance(summary: Summary) -> Table | None:
    """Return the share of the variance of the deciding score that each swept key explains on its
    own.

    It is epsilon squared over the configurations that were trained to the end: the share of the
    variance between the groups of equal values, minus the share that as many random groups would
    explain. None where fewer than two keys vary.
    """
    keys, known = varying_axes(summary), measures(summary)
    if len(keys) < 2 or not known:
        return None
    measure = known[-1]
    points = measure.points[measure.points["whole"] & ~measure.points["merged"]]
    points = points.dropna(subset=[axis.key for axis in keys])
    means = points["mean"]
    if len(points) < 4 or means.nunique() < 2:
        return None
    best = points.loc[means.idxmin() if measure.lower_is_better else means.idxmax()]
    shares = {axis.key: _epsilon_squared(means, points[axis.key]) for axis in keys}
    rows = []
    for axis in sorted(keys, key=lambda axis: -shares[axis.key]):
        share, value = shares[axis.key], axis.label(int(best[axis.key]))
        shown = Cell(f"{100 * share:.0f} %", share, share)
        rows.append([Cell(axis.name, hint=axis.key), shown, len(axis.values), value])
    note = (
        f"importance: the share of the variance of {measure.label} over {len(points)} "
        "configurations that the key explains on its own (epsilon squared, which chance does not "
        "raise); what is left is interactions and noise"
    )
    return table(["key", "importance", "values", "value of the best"], rows, notes=(note,))


def _epsilon_squared(scores: pd.Series, ranks: pd.Series) -> float:
    """Return epsilon squared of the groups of equal values.

    Where most are unique, neighbours form groups.
    """
    if ranks.nunique() > len(ranks) / 2:
        ranks = pd.qcut(ranks, BINS, labels=False, duplicates="drop")
    within = float(((scores - scores.groupby(ranks).transform("mean")) ** 2).sum())
    free = len(scores) - ranks.nunique()
    return max(0.0, 1 - within / free / float(scores.var())) if free > 0 else 0.0


def _ends(mean: float, half: float) -> IntervalEnds:
    """Return a mean with its interval; half the interval may be unknown (nan)."""
    return (mean, None, None) if np.isnan(half) else (mean, mean - half, mean + half)


def _text(row: pd.Series) -> str:
    """Return a score in words."""
    early = "" if row["whole"] else ", not trained to the end"
    return (
        f"{row['name']}: {adaptive_interval(*_ends(row['mean'], row['half']))}, "
        f"{seeds(row['seeds'])}{early}"
    )


def _means(axis: Axis, means: Sequence[tuple[int, float, float]]) -> go.Scatter:
    """Return means (rank of the value, mean, half its interval), joined where the key is a
    number."""
    ranks, ends = [rank for rank, *_ in means], [_ends(mean, half) for _, mean, half in means]
    points = [
        (rank, mean, f"{axis.name}={axis.label(rank)}: {adaptive_interval(mean, *bounds)}")
        for rank, (mean, *bounds) in zip(ranks, ends, strict=True)
    ]
    horizontal = axis.kind == "category"
    whiskers = {"error_x" if horizontal else "error_y": error_bars(ends, width=4, color=BLUE)}
    line, marker = {"color": BLUE, "width": 1.8}, {"color": BLUE, "size": 10}
    mode = "markers" if horizontal else "lines+markers"
    return _trace(axis, points, mode=mode, name="mean", line=line, marker=marker, **whiskers)


def _trace(axis: Axis, points: Sequence[tuple[int, float, str]], **options: object) -> go.Scatter:
    """Return points (rank of the value, score, words) over the key.

    Categories are on the vertical axis.
    """
    positions = [axis.position(rank) for rank, _, _ in points]
    scores = [score for _, score, _ in points]
    x, y = (scores, positions) if axis.kind == "category" else (positions, scores)
    texts = [html.escape(text) for _, _, text in points]
    return go.Scatter(x=x, y=y, text=texts, hovertemplate="%{text}<extra></extra>", **options)


def _chart(traces: Sequence[go.Scatter], axis: Axis, measure: Measure) -> go.Figure:
    """Return a chart by one key."""
    horizontal = axis.kind == "category"
    titles = (measure.label, axis.name) if horizontal else (axis.name, measure.label)
    figure = chart(traces, *titles)
    figure.update_xaxes(rangemode="normal")
    key_axis, score_axis = figure.layout.xaxis, figure.layout.yaxis
    if horizontal:
        key_axis, score_axis = score_axis, key_axis
    score_axis.update(within_bounds(measure.metric))
    if horizontal:
        figure.update_layout(height=130 + 34 * len(axis.values))
        key_axis.range = [len(axis.values) - 0.5, -0.5]
    key_axis.type = "log" if axis.kind == "log" else "linear"
    if ticks := axis.ticks():
        key_axis.update(
            tickvals=list(ticks), ticktext=[html.escape(text) for text in ticks.values()]
        )
    return figure
