"""The page of a paper's table: published and measured values, test sets by rows as a heat map, deviations, cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape

from augury.core.progress import duration
from augury.reporting.charts import Figure, look
from augury.reporting.document import chart, document, html_table, mark, section
from augury.reporting.figures import score_against_cost
from augury.reporting.heat import systems_by_tests
from augury.reporting.papers.formats import Grid, answered, by_test, head, notes, rows
from augury.reporting.papers.reproduction import Reproduction
from augury.reporting.sweeps.places import places


def render(found: Reproduction) -> str:
    """The page as things stand."""
    heat = systems_by_tests(list(found.tables.values())) if len(found.tables) > 1 else None
    priced = score_against_cost(found.systems, found.deciding) if found.deciding else None
    figures = [replace(each, name=name) for name, each in (("heat", heat), ("cost", priced)) if each]
    sections = [
        section("Published and measured", _rows(found)),
        section("Test sets by rows", _drawn(figures, "heat") + (_reading(found) if heat else "") + _by_test(found)),
        section("Cost", _drawn(figures, "cost")),
        section("What is not as in the paper", _listed(found.table.deviations)),
        section("Where it lies", _places(found)),
    ]
    title = f"{found.table.name} at scale {found.table.space.scale}"
    return document(title, _header(found, title) + "".join(sections), {each.name: each.plot for each in figures})


def _header(found: Reproduction, title: str) -> str:
    what, *cautions = head(found)
    facts = {"paper": what, "seeds": ", ".join(map(str, found.sweep.seeds)), "training in all": duration(found.seconds)}
    shown = "".join(f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in facts.items())
    warned = "".join(f'<p class="caution">{escape(caution)}</p>' for caution in cautions)
    return (
        f'<header><h1>{escape(title)}</h1><p class="question">{escape(found.table.space.question)}</p>'
        f'<p class="answer">{escape(answered(found))}</p>{warned}<dl class="facts">{shown}</dl></header>'
    )


def _rows(found: Reproduction) -> str:
    return _grid(found, rows(found), "published and measured") + _listed(notes(found), kind="notes")


def _reading(found: Reproduction) -> str:
    """How to read the heat map."""
    better = f"Blue is better than {found.table.space.reference} on the same test set, orange is worse"
    return f'<p class="quiet">{escape(better)}; the p of marks is corrected for the rows of one test set.</p>'


def _by_test(found: Reproduction) -> str:
    tests = by_test(found)
    if tests is None:
        return ""
    table = _grid(found, tests, "by test set")
    return f"<details><summary>The numbers, and what is published of them</summary>{table}</details>"


def _grid(found: Reproduction, grid: Grid, label: str) -> str:
    """A table in which rows that are not measured are quiet, and measured ones have their look of the charts."""
    places = {system.name: place for place, system in enumerate(found.systems)}
    unmeasured = {line.name for line in found.lines if not line.values}
    lines = []
    for name, *cells in grid.rows:
        drawn = mark(look(places[name])) if name in places else ""
        kind = ' class="stopped"' if name in unmeasured else ""
        data = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        lines.append(f'<tr{kind}><th scope="row">{drawn}{escape(name)}</th>{data}</tr>')
    return html_table(grid.header, lines, label)


def _drawn(figures: Sequence[Figure], name: str) -> str:
    return "".join(f'<div class="charts">{chart(each)}</div>' for each in figures if each.name == name)


def _listed(lines: Sequence[str], kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f"<ul{named}>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>" if lines else ""


def _places(found: Reproduction) -> str:
    listed = "".join(
        f"<div><dt>{escape(name)}</dt><dd><code>{escape(value)}</code></dd></div>"
        for name, value in places(found.sweep).items()
    )
    lines = [
        f'<tr><th scope="row">{escape(line.name)}</th><td><code>runs/{line.configuration.address}</code></td>'
        f"<td>{', '.join(f'{trial.seed} ({trial.progress})' for trial in line.configuration.trials)}</td></tr>"
        for line in found.lines
        if line.configuration
    ]
    return f'<dl class="places">{listed}</dl>{html_table(["row", "runs", "seeds"], lines, "addresses", kind="words")}'
