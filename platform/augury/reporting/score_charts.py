"""The sections that every report of scores begins with: the table, the test sets beside each
other, the differences to the first system, and the scores against cost."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from augury.reporting.comparison import Comparison
from augury.reporting.figures import Figure, chart, error_bars, trace
from augury.reporting.numbers import p_text
from augury.reporting.report import Block, Charts, Legend, PageSection, section
from augury.reporting.results import on_one_device
from augury.reporting.score_tables import by_system, by_test
from augury.reporting.styles import COLOURS, OTHER, Style
from augury.reporting.tables import Table, record_text
from augury.scoring.registry import title

NAME_WIDTH = 18
"""Characters of a line of a name at the side of a chart."""
HEIGHT, MARGINS = 36, 90
"""Pixels of a system in a chart, and of what is around them."""


def score_sections(
    shown: Table,
    comparisons: Sequence[Comparison],
    styles: Mapping[str, Style],
    more: Block,
    legend: Legend,
) -> Iterator[PageSection]:
    """Yield the sections of scores; `shown` is the table of all; `styles` are by address,
    `legend` explains them, `more` is shown with the test sets."""
    yield section("Scores and cost", shown)
    if not comparisons:
        return
    baseline = comparisons[0].rows[0].name
    if len(comparisons) > 1:
        text = (
            f"Blue is better than {baseline} on the same test set, orange is worse; * p < 0.05, "
            "** p < 0.01, corrected for the comparisons of one set."
        )
        yield section("Test sets", by_test(comparisons, styles), text, more)
    if differences := forest(comparisons[0], styles):
        yield section(f"Differences to {baseline}", Charts(differences))
    for cost in score_against_cost(comparisons[0], styles):
        yield section("Score against cost", Charts([cost], legend))


def forest(comparison: Comparison, styles: Mapping[str, Style]) -> list[Figure]:
    """Draw the tested differences to the baseline with their intervals, the best on top; `styles`
    are by address."""
    tested = [record for record in by_system(comparison).values() if record["p"] is not None]
    way, traces = -1 if comparison.lower_is_better else 1, []
    for record in sorted(tested, key=lambda record: way * record["difference"]):
        value = record["difference"]
        hover = html.escape(record_text(record, "difference", "difference"))
        lines = textwrap.wrap(f"{record['system']}{record['mark']}", NAME_WIDTH)
        name, style = "<br>".join(map(html.escape, lines)), styles.get(record["address"], OTHER)
        bars = error_bars(value, record["difference_low"], record["difference_high"])
        hover = f": {hover}, {p_text(record['p_corrected'])}"
        traces.append(trace(record["system"], style, [value], [name], hover, error_x=bars))
    if not traces:
        return []
    metric = title(comparison.metrics[0])
    label = f"{metric} on {comparison.test_label}: difference to {comparison.rows[0].name}"
    better = "left" if comparison.lower_is_better else "right"
    # The caption says it all; on a phone a long title would be cut.
    figure = chart(traces, f"difference in {metric}", "", height=MARGINS + HEIGHT * len(traces))
    figure.update_xaxes(rangemode="normal")
    figure.add_vline(x=0, line={"color": COLOURS[0], "dash": "dot", "width": 1.5})
    caption = f"{label}, with intervals of 95 %: {better} of the line is better"
    return [Figure("forest", caption, figure)]


def score_against_cost(comparison: Comparison, styles: Mapping[str, Style]) -> list[Figure]:
    """Draw the deciding score with its interval against training time.

    Empty for one system, and where times of different devices cannot be compared.
    """
    metric = comparison.metrics[0]
    costs = {row.name: row.cost for row in comparison.rows if row.cost and metric in row.scores}
    if len(costs) < 2 or not on_one_device([*costs.values()]):
        return []
    traces, systems = [], by_system(comparison)
    for name in costs:
        record = systems[name]
        point = trace(
            name,
            styles.get(record["address"], OTHER),
            [(record["seconds"] or 0.0) / 60],
            [record["value"]],
            f": {record_text(record, 'value', 'score')} after %{{x:.2f}} minutes",
            error_y=error_bars(record["value"], record["low"], record["high"]),
            cliponaxis=False,  # a point at the end of the axis is seen whole
        )
        traces.append(point)
    label, kind = f"{title(metric)} on {comparison.test_label}", comparison.time_kind
    clock = f"{kind} of one seed (minutes)"
    figure = chart(traces, clock, label, height=380)
    better = "lower" if comparison.lower_is_better else "higher"
    caption = f"{label} against {kind} of one seed; better is {better}, cheaper is further left"
    return [Figure("cost", caption, figure)]
