"""The sections that every report of scores begins with: the table with its files, the test sets
beside each other, the differences to the first system, and the scores against cost with their
Pareto front."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from augury.reporting.comparison import Comparison, Row
from augury.reporting.downloads import downloads
from augury.reporting.figures import Figure, chart, error_bars, trace, within_bounds
from augury.reporting.numbers import p_text, time_unit
from augury.reporting.report import Block, Charts, Downloads, Section, section
from augury.reporting.results import on_one_device
from augury.reporting.score_tables import frame, test_sections
from augury.reporting.styles import COLOURS, OTHER, Style, system_style
from augury.reporting.tables import Table, csv, latex, markdown
from augury.scoring.registry import title

NAME_WIDTH = 18
"""Characters of a line of a name at the side of a chart."""
LINE_HEIGHT, TEXT_HEIGHT, MARGINS = 26, 15, 90
"""Pixels of a system in a chart, and of what is around them."""


def score_sections(
    title: str,
    shown: Table,
    whole: Table,
    comparisons: Sequence[Comparison],
    styles: Mapping[str, Style],
    what: str,
    more: Block,
    legend: Sequence[tuple[Style, str]] = (),
) -> Iterator[Section]:
    """Yield the sections of scores; `shown` is the table of the page and `whole` that of its files,
    `styles` are by address, `what` the rows of the table, `more` is shown with the test sets.

    `legend` explains the styles where some systems have none.
    """
    files = {"tex": latex([whole]), "md": markdown([whole])}
    files = {"csv": csv(frame(comparisons)), **files} if comparisons else files
    yield section("Scores and cost", shown, Downloads(downloads(title, **files)))
    yield from test_sections(comparisons, what, more, styles=styles)
    if not comparisons:
        return
    if differences := forest(comparisons[0], styles):
        heading = f"Differences to {comparisons[0].rows[0].name}"
        yield section(heading, Charts(differences))
    colours = " Intervals of 95 % where a system has a colour." if legend else ""
    yield from cost_sections(comparisons[0], styles, colours, legend)


def forest(comparison: Comparison, styles: Mapping[str, Style]) -> list[Figure]:
    """Draw the tested differences to the baseline with their intervals, the best on top; `styles`
    are by address."""
    tested = [row for row in comparison.rows if row.tested]
    if not tested:
        return []
    ordered = sorted(tested, key=lambda row: comparison.gain(row) or 0.0)
    traces, names = [], []
    for place, scored in enumerate(ordered):
        assert scored.tested is not None
        value, ends = scored.tested.value, (scored.tested.low, scored.tested.high)
        p_value = f", {p_text(scored.corrected)}" if scored.corrected is not None else ""
        hover = f": {html.escape(scored.difference_text)}{p_value}"
        style = styles.get(scored.address, OTHER)
        point = trace(scored.name, style, [value], [place], hover, mode="markers", size=10)
        point.error_x = error_bars([(value, *ends)])
        traces.append(point)
        names.append(textwrap.wrap(f"{scored.name}{scored.mark}", NAME_WIDTH))
    metric = title(comparison.metrics[0])
    label = f"{metric} on {comparison.test_label}: difference to {comparison.rows[0].name}"
    better = "left" if comparison.lower_is_better else "right"
    height = MARGINS + max(LINE_HEIGHT, TEXT_HEIGHT * max(map(len, names))) * len(names)
    # The caption says it all; on a phone a long title would be cut.
    figure = chart(traces, f"difference in {metric}", "", height=height)
    figure.update_xaxes(rangemode="normal")
    figure.add_vline(x=0, line={"color": COLOURS[0], "dash": "dot", "width": 1.5})
    written = ["<br>".join(map(html.escape, lines)) for lines in names]
    places = [-0.7, len(names) - 0.3]
    figure.update_yaxes(tickvals=[*range(len(names))], ticktext=written, range=places)
    caption = f"{label}, with intervals of 95 %: {better} of the line is better"
    return [Figure("forest", caption, caption, figure)]


def cost_sections(
    comparison: Comparison | None,
    styles: Mapping[str, Style] | None = None,
    more: str = "",
    legend: Sequence[tuple[Style, str]] = (),
) -> list[Section]:
    """Return the chart of the score against cost, where times can be compared; `styles` are those
    of `score_against_cost`, `legend` and `more` explain them."""
    charts = score_against_cost(comparison, styles) if comparison else []
    return [
        section("Score against cost", Charts([chart], legend), f"{chart.caption}{more}")
        for chart in charts
    ]


def pareto_front(comparison: Comparison) -> list[Row]:
    """Return the rows that no other beats in both score and cost, by the metric that decides.

    Cheapest first.
    """
    metric, sign = comparison.metrics[0], 1 if comparison.lower_is_better else -1

    def loss(row: Row) -> float:
        return sign * row.scores[metric].value

    kept: list[Row] = []
    for row, _ in sorted(_costed(comparison), key=lambda item: (item[1], loss(item[0]))):
        if not kept or loss(row) < loss(kept[-1]):
            kept.append(row)
    return kept


def _costed(comparison: Comparison) -> list[tuple[Row, float]]:
    """Return the systems that have the deciding score and a training time, with the time."""
    known = [(row, comparison.seconds(row)) for row in comparison.rows]
    metric = comparison.metrics[0]
    return [(row, time) for row, time in known if time is not None and metric in row.scores]


def score_against_cost(
    comparison: Comparison, styles: Mapping[str, Style] | None = None
) -> list[Figure]:
    """Draw the deciding score with its interval against training time, and the Pareto front.

    None for one system, and where times of different devices cannot be compared.
    With `styles`, by address, systems without one are drawn small and without interval.
    """
    metric, best = comparison.metrics[0], pareto_front(comparison)
    costed = _costed(comparison)
    if len(costed) < 2 or not on_one_device([row.cost for row, _ in costed if row.cost]):
        return []
    unit, size = time_unit(max(seconds for _, seconds in costed))
    own_styles = {row.address: system_style(index) for index, row in enumerate(comparison.rows)}
    drawn = own_styles if styles is None else styles
    kind, times = comparison.time_kind, {row.name: time for row, time in costed}
    on_front = [(row, times[row.name] / size, row.scores[metric].value) for row in best]
    _, x, y = zip(*on_front, strict=True)
    line: dict[str, Any] = {"color": COLOURS[0], "shape": "hv", "width": 1.5}
    options = {"name": "front", "hoverinfo": "skip", "showlegend": False}
    traces = [go.Scatter(mode="lines", x=x, y=y, line=line, **options)]
    for row, seconds in sorted(costed, key=lambda item: item[0].address in drawn):  # these on top
        highlighted, score = row.address in drawn, row.scores[metric]
        point = trace(
            row.name,
            drawn.get(row.address, OTHER),
            [seconds / size],
            [score.value],
            f": {score.text} after %{{x:.2f}} {unit}",
            mode="markers",
            size=11 if highlighted else 8,
            ends=[score.ends] if highlighted else (),
            marker_line={"width": 2 if row in best else 0, "color": COLOURS[0]},
            cliponaxis=False,  # a point at the end of the axis is seen whole
        )
        traces.append(point)
    label = f"{title(metric)} on {comparison.test_label}"
    values = ", ".join(f"{row.name} {y:.1f} in {x:.1f} {unit}" for row, x, y in on_front)
    clock, axis = f"{kind} of one seed ({unit})", within_bounds(metric)
    figure = chart(traces, clock, label, height=380, legend=styles is None, yaxis=axis)
    caption = f"On the line, the Pareto front, no system is both better and cheaper: {values}."
    return [Figure("cost", f"{label} against {kind}", caption, figure)]
