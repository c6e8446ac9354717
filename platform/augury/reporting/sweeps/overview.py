"""A race at a glance: the best of every family, differences to the reference as a forest plot, and
what was trained when."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import plotly.graph_objects as go

from augury.core.progress import duration
from augury.reporting.figures import Figure, chart, error_bars, trace
from augury.reporting.numbers import MISSING, factor, p_text, probability, time_unit
from augury.reporting.styles import COLOURS, OTHER, Style
from augury.reporting.sweeps.figures import ACTIONS, GREY
from augury.reporting.sweeps.summary import ConfigurationResult, Summary
from augury.reporting.tables import Cell, Row, Table, cell, row, table
from augury.scoring.registry import title
from augury.sweeping.state import Point, Trial

NAME_WIDTH = 18
"""Characters of a line of a name at the side of a chart."""
LINE_HEIGHT, MARGINS = 26, 90
"""Pixels of a system in a chart, and of what is around them."""
PAUSE_SECONDS = 60.0
"""A longer time between two validations, beyond that of training, is drawn as a pause."""
REFERENCE = "reference"
STATE_COLOURS = {
    "finished": COLOURS[3],
    "stopped": COLOURS[5],
    "running": COLOURS[1],
    "paused": COLOURS[7],
    "failed": COLOURS[2],
    "waiting": COLOURS[0],
}


def families(summary: Summary, styles: Mapping[str, Style]) -> Table | None:
    """Return the best configuration of every family, best family first; None where the space has
    no families."""
    best: dict[str, ConfigurationResult] = {}
    counts: dict[str, int] = {}
    for result in summary.ranking:  # the best in validation first
        family = result.configuration.family
        if result is summary.reference or not family:
            continue
        counts[family] = counts.get(family, 0) + 1
        best.setdefault(family, result)
    if not best:
        return None
    rows = [_family_row(summary, REFERENCE, summary.reference, 1, styles)]
    rows += [
        _family_row(summary, family, result, counts[family], styles)
        for family, result in best.items()
    ]
    test = summary.deciding.test_label if summary.deciding else "test"
    columns = ["family", "state", "seeds", summary.metric, f"difference on {test}"]
    notes = ("of each family the configuration that trained furthest and, of these, scores best",)
    return table([*columns, "p", summary.time_factor_title], rows, notes=notes)


def _family_row(
    summary: Summary,
    family: str,
    result: ConfigurationResult,
    count: int,
    styles: Mapping[str, Style],
) -> Row:
    scored = summary.row(result)
    p_value = scored.corrected if scored and scored.tested else None
    cells = [
        Cell(family),
        Cell(result.state_text),
        cell(result.finished, "d"),
        Cell(result.spread_text, result.mean),
        Cell(scored.difference_text if scored else MISSING, scored.difference if scored else None),
        cell(p_value, probability),
        cell(summary.time_factor(result), factor),
    ]
    note = f"{result.name}, the best of {count}" if count > 1 else result.name
    style = styles.get(result.address, OTHER)
    return row(cells, style=style, note=note, faint=result.state == "stopped")


def forest(summary: Summary, styles: Mapping[str, Style]) -> list[Figure]:
    """Draw the tested differences to the reference with their intervals, the best on top."""
    deciding = summary.deciding
    tested = [row for row in deciding.rows if row.tested] if deciding else []
    if deciding is None or not tested:
        return []
    ordered = sorted(tested, key=lambda row: deciding.gain(row) or 0.0)
    traces = []
    for place, scored in enumerate(ordered):
        assert scored.tested is not None
        ends = (scored.tested.value, scored.tested.low, scored.tested.high)
        p_value = f", {p_text(scored.corrected)}" if scored.corrected is not None else ""
        point = trace(
            scored.name,
            styles.get(scored.address, OTHER),
            [scored.tested.value],
            [place],
            f": {html.escape(scored.difference_text)}{p_value}",
            mode="markers",
            size=10,
        )
        point.error_x = error_bars([ends])
        traces.append(point)
    metric, reference = title(deciding.metrics[0]), summary.reference.name
    label = f"{metric} on {deciding.test_label}: difference to {reference}"
    better = "left" if deciding.lower_is_better else "right"
    figure = chart(traces, label, "", height=MARGINS + LINE_HEIGHT * len(ordered))
    figure.update_xaxes(rangemode="normal")
    figure.add_vline(x=0, line={"color": GREY, "dash": "dot", "width": 1.5})
    _name_lines(figure, [f"{row.name}{row.mark}" for row in ordered])
    caption = f"{label}, with intervals of 95 %: {better} of the line is better"
    return [Figure("forest", caption, caption, figure)]


def lanes(summary: Summary) -> list[Figure]:
    """Draw when every configuration was trained, a line for each seed, with the decisions on it."""
    sweep = summary.sweep
    begun = [
        result
        for result in summary.ranking
        if any(trial.curve for trial in result.configuration.trials)
    ]
    if not begun:
        return []
    order = begun[::-1]  # the best on top
    latest = max(
        point.time
        for result in order
        for trial in result.configuration.trials
        for point in trial.curve
    )
    unit, size = time_unit(max(1.0, latest - sweep.started))

    def at(time: float) -> float:
        return round((time - sweep.started) / size, 4)

    traces: list[go.Scatter] = []
    for place, result in enumerate(order):
        trials = [trial for trial in result.configuration.trials if trial.curve]
        for number, trial in enumerate(trials):
            y = place + 0.5 * ((number + 1) / (len(trials) + 1) - 0.5)
            traces += [
                _segment(result.name, trial, at(start), at(end), y)
                for start, end in _segments(trial.curve)
            ]
    places = {result.address: place for place, result in enumerate(order)}
    traces += _decisions(summary, places, at)
    zone = datetime.fromtimestamp(sweep.started, UTC)
    x = f"{unit} since {zone:%H:%M} UTC"
    figure = chart(
        traces, x, "", height=MARGINS + LINE_HEIGHT * len(order), legend=True, hovermode="closest"
    )
    _name_lines(figure, [result.name for result in order])
    trained = sum(trial.seconds for _, trial in sweep.trials)
    caption = (
        f"What was trained when, a line for each seed: {duration(trained)} of training in "
        f"{duration(latest - sweep.started)}"
    )
    return [Figure("lanes", caption, caption, figure)]


def _segments(curve: Sequence[Point]) -> list[tuple[float, float]]:
    """Return the begins and ends of a training between its pauses, in Unix time."""
    begin = curve[0].time - curve[0].seconds
    segments, last = [(begin, curve[0].time)], curve[0]
    for point in curve[1:]:
        waited = point.time - last.time - (point.seconds - last.seconds)
        if waited > PAUSE_SECONDS:
            segments.append((point.time - (point.seconds - last.seconds), point.time))
        else:
            segments[-1] = segments[-1][0], point.time
        last = point
    return segments


def _segment(name: str, trial: Trial, start: float, end: float, y: float) -> go.Scatter:
    hover = f"{html.escape(name)}, seed {trial.seed}: {trial.progress}<extra></extra>"
    return go.Scatter(
        mode="lines",
        x=[start, end],
        y=[y, y],
        line={"color": STATE_COLOURS[trial.progress], "width": 5},
        showlegend=False,
        hovertemplate=hover,
    )


def _decisions(
    summary: Summary, places: Mapping[str, int], at: Callable[[float], float]
) -> list[go.Scatter]:
    """Return the decisions of the race as points on the lines of their configurations."""
    traces = []
    for action, (colour, symbol) in ACTIONS.items():
        decided = [
            decision
            for decision in summary.decisions
            if decision.action == action and decision.address in places
        ]
        if decided:
            traces.append(
                go.Scatter(
                    mode="markers",
                    name=action,
                    x=[at(decision.time) for decision in decided],
                    y=[places[decision.address] for decision in decided],
                    marker={"color": colour, "symbol": symbol, "size": 9},
                    hovertemplate=f"{action}<extra></extra>",
                )
            )
    return traces


def _name_lines(figure: go.Figure, names: Sequence[str]) -> None:
    """Write names at the side of a chart, the first one lowest."""
    wrapped = ["<br>".join(map(html.escape, textwrap.wrap(name, NAME_WIDTH))) for name in names]
    figure.update_yaxes(
        tickvals=list(range(len(names))), ticktext=wrapped, range=[-0.7, len(names) - 0.3]
    )
