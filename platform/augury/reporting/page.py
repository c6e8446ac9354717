"""One page of HTML for people: the answer, the table, learning curves, cost, examples, and what was compared.

It holds everything it shows, Plotly included, and asks nothing of a network.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

from augury.core.errors import UserError
from augury.reporting.answer import answer
from augury.reporting.charts import Figure, look
from augury.reporting.document import chart, document, html_table, mark, section
from augury.reporting.figures import POINTS, learning_curves, score_against_cost
from augury.reporting.heat import systems_by_tests
from augury.reporting.mean import comparisons
from augury.reporting.results import SystemResult
from augury.reporting.samples import draw
from augury.reporting.table import Row, Table, cautions, interval, scored_sets


def render(results: Sequence[SystemResult], title: str) -> str:
    """The page on these systems, the baseline first, called `title`; UserError where nothing is scored yet."""
    names = scored_sets(results)
    if not names:
        raise UserError("no run has scores yet: a page can be made when the first one is finished")
    tables = comparisons(results, names)
    heat = systems_by_tests(tables) if len(tables) > 1 else None
    curves = learning_curves(results, tables[0].metrics[0])
    cost = score_against_cost(results, tables[0])
    compared = " and ".join(result.name for result in results[1:]) or results[0].name
    sections = [
        section("Scores and cost", _scores(tables[0], heading=len(tables) > 1)),
        section("Test sets", _test_sets(tables, heat) if heat else ""),
        section("Learning curves", _charts(results, curves)),
        section("Score against cost", f'<div class="charts">{chart(cost)}</div>' if cost else ""),
        section("Examples", _examples(results, names[0])),
        section("What differs between the systems", _differences(results)),
        section("What was compared", _provenance(results)),
    ]
    return document(
        f"{title}: {compared} on {', '.join(names)}",
        f'<header><h1>{escape(title)}</h1><p class="answer">{escape(answer(tables[0]))}</p>'
        f"{_notes(results)}</header>{''.join(sections)}",
        {figure.name: figure.plot for figure in (*curves, *filter(None, (cost, heat)))},
    )


def _test_sets(tables: Sequence[Table], heat: Figure) -> str:
    """All test sets in one chart; their tables are folded away."""
    better = f"Blue is better than {tables[0].rows[0].name} on the same test set, orange is worse"
    reading = f'<p class="quiet">{escape(better)}; * p < 0.05, ** p < 0.01, corrected for the systems of one set.</p>'
    folded = "".join(_scores(table, heading=True) for table in tables[1:])
    return (
        f'<div class="charts">{chart(heat)}</div>{reading}'
        f"<details><summary>The numbers, with intervals</summary>{folded}</details>"
    )


def _notes(results: Sequence[SystemResult]) -> str:
    return "".join(f'<p class="caution">{escape(note)}</p>' for note in cautions(results))


def _scores(table: Table, heading: bool) -> str:
    """The table of one test set, with the deciding score also drawn."""
    first, *rest = table.header()
    spread = [estimate for row in table.rows if (estimate := row.scores.get(table.metrics[0]))]
    low, high = min(one.low for one in spread), max(one.high for one in spread)
    header = [first, rest[0], rest[1], "", *rest[2:]]
    lines = []
    for index, row in enumerate(table.rows):
        name, seeds, score, *cells = table.cells(row)
        bar = _bar(table, row, index, low, high)
        data = "".join(f"<td>{escape(cell)}</td>" for cell in (seeds, score)) + f"<td>{bar}</td>"
        data += "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        lines.append(f'<tr><th scope="row">{mark(look(index))}{escape(name)}</th>{data}</tr>')
    notes = "".join(f"<li>{escape(note)}</li>" for note in table.notes)
    head = f"<h3>{escape(table.where)}</h3>" if heading else ""
    return f'{head}{html_table(header, lines, f"scores on {table.where}")}<ul class="notes">{notes}</ul>'


def _bar(table: Table, row: Row, index: int, low: float, high: float) -> str:
    """The interval of a score as a line with a dot, over the range of all systems; the baseline's score is dashed."""

    def x(value: float) -> str:
        return f"{5 + 140 * (value - low) / ((high - low) or 1):.1f}"

    score, base = row.scores.get(table.metrics[0]), table.rows[0].scores.get(table.metrics[0])
    if score is None:
        return ""
    colour = look(index).colour
    rule = f'<line class="base" x1="{x(base.value)}" x2="{x(base.value)}" y1="0" y2="22"/>' if base else ""
    return (
        f'<svg class="bar" viewBox="0 0 150 22" role="img" aria-label="{escape(interval(score))}">{rule}'
        f'<line x1="{x(score.low)}" x2="{x(score.high)}" y1="11" y2="11" stroke="{colour}" stroke-width="3"/>'
        f'<circle cx="{x(score.value)}" cy="11" r="5" fill="{colour}"/></svg>'
    )


def _charts(results: Sequence[SystemResult], curves: Sequence[Figure]) -> str:
    if not curves:
        return '<p class="quiet">Training has left no history yet.</p>'
    legend = "".join(f"<li>{mark(look(index))}{escape(result.name)}</li>" for index, result in enumerate(results))
    return (
        f'<ul class="legend">{legend}</ul><div class="charts">{"".join(map(chart, curves))}</div>'
        f'<p class="quiet">One line per seed, of at most {POINTS} points.</p>'
    )


def _examples(results: Sequence[SystemResult], test: str) -> str:
    samples = draw(results, test)
    if samples is None:
        return ""
    intro = f"{len(samples.examples)} examples of {test}, drawn at random, with each system's first seed."
    articles = []
    for sample in samples.examples:
        given = "".join(_text(name, text, samples.language) for name, text in sample.given.items())
        expected = _text(samples.expected, sample.expected, samples.expected_language)
        made = "".join(_text(name, text, samples.expected_language) for name, text in sample.hypotheses.items())
        columns = f"<dl>{given}{expected}</dl><dl>{made}</dl>"
        articles.append(f'<article class="sample"><h3>line {sample.line}</h3>{columns}</article>')
    return f'<p class="quiet">{escape(intro)}</p>{"".join(articles)}'


def _text(label: str, text: str, language: str) -> str:
    said = escape(text) or "(empty)"
    return f'<div><dt>{escape(label)}</dt><dd lang="{escape(language)}" dir="auto">{said}</dd></div>'


def _differences(results: Sequence[SystemResult]) -> str:
    """The settings that are not equal in all systems."""
    parameters = [result.facts["parameters"] for result in results]
    keys = dict.fromkeys(key for one in parameters for key in one)
    differing = [key for key in keys if any(one.get(key) != parameters[0].get(key) for one in parameters)]
    if not differing:
        return '<p class="quiet">Their configurations are equal.</p>' if len(results) > 1 else ""
    lines = [
        f'<tr><th scope="row"><code>{escape(key)}</code></th>'
        + "".join(f"<td>{_value(one.get(key))}</td>" for one in parameters)
        + "</tr>"
        for key in differing
    ]
    return html_table(["setting", *(result.name for result in results)], lines, "settings that differ", kind="words")


def _value(value: Any) -> str:
    if value is None:
        return '<span class="quiet">not set</span>'
    return f"<code>{escape(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))}</code>"


def _provenance(results: Sequence[SystemResult]) -> str:
    """Addresses of runs and texts, and the versions that made them."""
    lines = []
    for result in results:
        texts = "<br>".join(
            f"{escape(given['name'])} <code>{given['address']}</code>, {given['rows']:,} rows"
            for given in result.facts["inputs"]
        )
        versions = ", ".join(f"{package} {version}" for package, version in result.facts["versions"].items())
        commit = f"commit <code>{escape(result.facts['commit'])}</code><br>" if result.facts["commit"] else ""
        device = f"{escape(result.cost.device)}<br>" if result.cost else ""
        seeds = ", ".join(map(str, result.runs))
        lines.append(
            f'<tr><th scope="row">{escape(result.name)}</th>'
            f"<td><code>{escape(result.address)}</code><br>seeds {seeds}</td><td>{texts}</td>"
            f'<td>{device}{commit}<span class="quiet">{escape(versions)}</span></td></tr>'
        )
    return html_table(["system", "runs", "texts", "made with"], lines, "addresses", kind="words")
