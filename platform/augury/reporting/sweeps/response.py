"""How a score answers to the swept keys: a curve or dots for one key, a heat map for two, one chart each for more."""

from __future__ import annotations

import html
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from augury.reporting import heat
from augury.reporting.charts import COLOURS, Figure, plot
from augury.reporting.sweeps.axes import Axis, axes
from augury.reporting.sweeps.summary import Summary
from augury.reporting.sweeps.wording import between, measured, seeds, written
from augury.scoring.metrics import title
from augury.sweeping.state import Configuration

GREY, MEAN = COLOURS[0], COLOURS[1]
DENSE = 0.5  # the share of its cells that a heat map must fill


@dataclass(frozen=True)
class Reading:
    """A score of a configuration."""

    configuration: Configuration
    mean: float
    low: float | None
    high: float | None
    seeds: tuple[float, ...]
    """Of the single seeds, where they are shown."""
    count: int
    """Of seeds."""
    whole: bool
    """Whether any of them was trained to the end."""


@dataclass(frozen=True)
class Measure:
    """A score of all configurations that have it."""

    name: str
    label: str
    mode: str
    readings: tuple[Reading, ...]


def measures(summary: Summary) -> list[Measure]:
    """The sweep's metric, and the deciding score of the first test set; each once two configurations have it."""
    found = [
        Measure(
            "validation",
            measured(summary.sweep.metric),
            summary.sweep.mode,
            tuple(
                Reading(
                    each.configuration,
                    each.mean,
                    each.low,
                    each.high,
                    tuple(each.values.values()),
                    len(each.values),
                    each.finished > 0,
                )
                for each in summary.standings
                if each.mean is not None
            ),
        )
    ]
    if summary.tables:
        table = summary.tables[0]
        metric, known = table.metrics[0], summary.sweep.by_address
        readings = tuple(
            Reading(known[row.address], score.value, score.low, score.high, (), score.seeds, True)
            for row in table.rows
            if (score := row.scores.get(metric))
        )
        mode = "min" if table.lower_is_better else "max"
        found.append(Measure("test", f"{title(metric)} on {table.where}", mode, readings))
    return [measure for measure in found if len(measure.readings) > 1]


def responses(summary: Summary) -> list[Figure]:
    """The charts that fit the number of keys that vary."""
    varying = [axis for axis in axes(summary.sweep.keys, summary.sweep.configurations) if len(axis.values) > 1]
    found = measures(summary)
    if len(varying) == 1:
        return [single(summary, measure, varying[0]) for measure in found]
    if len(varying) == 2 and _filled(summary, *varying) >= DENSE:
        return [heat_map(summary, measure, *varying) for measure in found]
    return [marginal(summary, measure, axis) for measure in found[:1] for axis in varying]


def single(summary: Summary, measure: Measure, axis: Axis) -> Figure:
    """The score at every value of the only key: the mean with its interval, a dot for each seed."""
    shown = [each for each in measure.readings if axis.has(each.configuration)]
    shown.sort(key=lambda each: axis.index(each.configuration))
    single_seeds = [(each, value) for each in shown for value in each.seeds]
    data = _level(summary, measure, axis)
    data += [_means(axis, some, whole) for whole in (True, False) if (some := [e for e in shown if e.whole == whole])]
    data += [_dots(axis, [each for each, _ in single_seeds], [value for _, value in single_seeds], "one seed")]
    heading = _heading(measure, axis.name)
    values = ", ".join(f"{axis.label(axis.index(each.configuration))}: {written(each.mean)}" for each in shown)
    return Figure(f"response-{measure.name}", heading, f"{heading}; {values}", _laid_out(data, axis, measure.label))


def marginal(summary: Summary, measure: Measure, axis: Axis) -> Figure:
    """The score at every value of one key among others: a dot for each configuration, and their mean.

    The mean is over the configurations that were trained to the end, and left out where nearly every one of them has
    its own value.
    """
    shown = [each for each in measure.readings if axis.has(each.configuration)]
    whole = [each for each in shown if each.whole]
    groups = [[each for each in whole if axis.index(each.configuration) == index] for index in range(len(axis.values))]
    means = [_over(group) for group in groups if group]
    data = _level(summary, measure, axis)
    data += [
        _dots(axis, some, [each.mean for each in some], "one configuration", hollow=not reached)
        for reached in (True, False)
        if (some := [each for each in shown if each.whole == reached])
    ]
    data += [_means(axis, means, whole=True)] if len(whole) >= 2 * len(means) > 0 else []
    heading = _heading(measure, axis.name)
    values = ", ".join(f"{axis.label(axis.index(each.configuration))}: {written(each.mean)}" for each in means)
    return Figure(
        f"marginal-{axis.key}",
        heading,
        f"{heading}, means: {values or 'none yet'}",
        _laid_out(data, axis, measure.label),
    )


def heat_map(summary: Summary, measure: Measure, across: Axis, down: Axis) -> Figure:
    """The mean at every pair of values, with half its interval and the number of seeds, against the reference."""
    held = [each for each in measure.readings if across.has(each.configuration) and down.has(each.configuration)]
    whole = [each.mean for each in held if each.whole] or [each.mean for each in held] or [0.0]
    level = next(
        (each.mean for each in measure.readings if each.configuration.address == summary.sweep.reference),
        statistics.fmean(whole),
    )
    columns, rows = (list(map(axis.label, range(len(axis.values)))) for axis in (across, down))
    cells = {
        (down.index(each.configuration), across.index(each.configuration)): heat.Cell(
            each.mean, _cell(each), _told(each)
        )
        for each in held
    }
    drawn = heat.chart(
        cells,
        columns,
        rows,
        x=across.name,
        y=down.name,
        level=level,
        reach=max(abs(value - level) for value in whole) or 1.0,
        least_first=measure.mode == "min",
    )
    heading = _heading(measure, f"{across.name} and {down.name}")
    said = "; ".join(map(_told, held))
    return Figure(f"response-{measure.name}", heading, f"{heading}: {said}", drawn, narrowest=heat.width(len(columns)))


def _heading(measure: Measure, by: str) -> str:
    return f"{measure.label[0].upper()}{measure.label[1:]} by {by}"


def _filled(summary: Summary, across: Axis, down: Axis) -> float:
    """The share of the cells of a heat map that a configuration stands for."""
    held = [each for each in summary.sweep.configurations if across.has(each) and down.has(each)]
    return len({(across.index(each), down.index(each)) for each in held}) / (len(across.values) * len(down.values))


def _cell(reading: Reading) -> str:
    half = None if reading.low is None or reading.high is None else (reading.high - reading.low) / 2
    noise = "" if half is None else f"± {written(half, like=reading.mean)} "
    return f"{written(reading.mean)}{'' if reading.whole else ' †'}<br>{noise}({reading.count})"


def _told(reading: Reading) -> str:
    """A reading in words."""
    score = between(reading.mean, reading.low, reading.high)
    early = "" if reading.whole else ", not trained to the end"
    return f"{html.escape(reading.configuration.name)}: {score}, {seeds(reading.count)}{early}"


def _over(group: Sequence[Reading]) -> Reading:
    """The mean over configurations that share a value, with the interval that the seeds' noise gives it."""
    halves = [(each.high - each.low) / 2 for each in group if each.low is not None and each.high is not None]
    mean = statistics.fmean(each.mean for each in group)
    half = math.sqrt(sum(each**2 for each in halves)) / len(group) if len(halves) == len(group) else None
    return Reading(
        group[0].configuration,
        mean,
        None if half is None else mean - half,
        None if half is None else mean + half,
        (),
        sum(each.count for each in group),
        True,
    )


def _level(summary: Summary, measure: Measure, axis: Axis) -> list[dict[str, Any]]:
    """The reference as a line across the chart, where it has no value of the key."""
    found = [each for each in measure.readings if each.configuration.address == summary.sweep.reference]
    if not found or axis.has(found[0].configuration):
        return []
    places = _placed(axis, [axis.place(0), axis.place(len(axis.values) - 1)], [found[0].mean] * 2)
    line = {"color": GREY, "dash": "dot", "width": 2.2}
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": "reference",
            **places,
            "line": line,
            "text": [_told(found[0])] * 2,
            "hovertemplate": "%{text}<extra></extra>",
        }
    ]


def _dots(
    axis: Axis, readings: Sequence[Reading], values: Sequence[float], name: str, hollow: bool = False
) -> dict[str, Any]:
    """Small dots, of seeds or of configurations."""
    places = [axis.place(axis.index(each.configuration)) for each in readings]
    told = [
        f"{html.escape(each.configuration.name)}: {written(value)}, {name}"
        for each, value in zip(readings, values, strict=True)
    ]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        **_placed(axis, places, values),
        "text": told,
        "marker": {"color": GREY, "symbol": "circle-open" if hollow else "circle", "size": 6},
        "hovertemplate": "%{text}<extra></extra>",
    }


def _means(axis: Axis, readings: Sequence[Reading], whole: bool) -> dict[str, Any]:
    """Means with their intervals; those of unfinished training are hollow and not joined."""
    places = [axis.place(axis.index(each.configuration)) for each in readings]
    above = [0.0 if each.high is None else each.high - each.mean for each in readings]
    below = [0.0 if each.low is None else each.mean - each.low for each in readings]
    lying = axis.kind == "category"
    told = [
        f"{axis.name}={html.escape(axis.label(axis.index(each.configuration)))}: "
        + between(each.mean, each.low, each.high)
        for each in readings
    ]
    return {
        "type": "scatter",
        "mode": "lines+markers" if whole and not lying else "markers",
        "name": "mean",
        **_placed(axis, places, [each.mean for each in readings]),
        "text": told,
        "error_x" if lying else "error_y": {
            "type": "data",
            "symmetric": False,
            "array": above,
            "arrayminus": below,
            "thickness": 1.6,
            "width": 4,
            "color": MEAN,
        },
        "line": {"color": MEAN, "width": 1.8},
        "marker": {"color": MEAN, "symbol": "circle" if whole else "circle-open", "size": 10},
        "hovertemplate": "%{text}<extra></extra>",
    }


def _placed(axis: Axis, places: Sequence[float], values: Sequence[float]) -> dict[str, list[float]]:
    """The key across and the score up; categories lie down, where there is room for words."""
    x, y = (values, places) if axis.kind == "category" else (places, values)
    return {"x": list(x), "y": list(y)}


def _laid_out(data: list[dict[str, Any]], axis: Axis, label: str) -> dict[str, Any]:
    """The axes of a chart over one key."""
    lying = axis.kind == "category"
    chart = plot(data, label, axis.name) if lying else plot(data, axis.name, label)
    chart["layout"]["xaxis"] |= {"rangemode": "normal"}
    own = chart["layout"]["yaxis" if lying else "xaxis"]
    if lying:
        chart["layout"] |= {"height": 130 + 34 * len(axis.values)}
        own |= {"range": [len(axis.values) - 0.5, -0.5]}
    own |= {"type": "log" if axis.kind == "log" else "linear"}
    ticks = axis.ticks()
    own |= {"tickvals": list(ticks), "ticktext": [html.escape(text) for text in ticks.values()]}
    return chart
