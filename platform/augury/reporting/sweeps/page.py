"""The page of a sweep: the question, the answer, how far it is, the configurations, and how the score answers to them.

It is written again and again while the sweep runs, and holds everything it shows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any

from augury.core.naming import title as titled
from augury.core.progress import duration
from augury.experiments import runs
from augury.reporting.charts import Figure, Look
from augury.reporting.document import chart, document, html_table, mark, section
from augury.reporting.heat import systems_by_tests
from augury.reporting.sweeps.answer import answered
from augury.reporting.sweeps.axes import said, short_names
from augury.reporting.sweeps.figures import OTHER, front, learning_curves, looks, rungs, score_against_cost
from augury.reporting.sweeps.parallel import parallel_coordinates
from augury.reporting.sweeps.places import places
from augury.reporting.sweeps.response import responses
from augury.reporting.sweeps.summary import Standing, Summary, summarise
from augury.reporting.sweeps.wording import between, measured, spread, stands_at, written
from augury.reporting.table import MISSING, Row, Table, difference, factor, interval, probability
from augury.scoring.metrics import title
from augury.sweeping.state import Progress, Sweep

NOTES = 8  # more are folded away
STATES: tuple[Progress, ...] = ("finished", "running", "paused", "stopped", "failed", "waiting")


def render(sweep: Sweep, refresh: int | None = None) -> str:
    """The page as it is now; a browser loads it again every `refresh` seconds."""
    summary = summarise(sweep)
    drawn = looks(summary)
    curves, response = learning_curves(summary, drawn), responses(summary)
    tests = systems_by_tests(summary.tables) if len(summary.tables) > 1 else None
    decided, cost, parallel = rungs(summary), score_against_cost(summary, drawn), parallel_coordinates(summary, drawn)
    sections = [
        section("Configurations", _configurations(summary, drawn)),
        section("Test sets by configurations", _charts([tests]) + _note(_by_test(summary)) if tests else ""),
        section("How the score answers to what was swept", _charts(response) + _reading(response)),
        section("Parallel coordinates", _legend(summary, drawn) + chart(parallel) if parallel else ""),
        section("Learning curves", _legend(summary, drawn) + _charts(curves) if curves else ""),
        section("Score against cost", chart(cost) + _note(_front(summary)) if cost else ""),
        section("What the race decided", _charts(decided) + _decisions(summary) if decided else ""),
        section("Points that are the same experiment", _merged(sweep)),
        section("Failed trials", _failures(sweep)),
        section("Where it lies", _places(summary)),
    ]
    figures = [
        *([tests] if tests else []),
        *response,
        *([parallel] if parallel else []),
        *curves,
        *([cost] if cost else []),
        *decided,
    ]
    return document(
        f"Sweep {sweep.name}",
        _header(summary, refresh) + "".join(sections),
        {figure.name: figure.plot for figure in figures},
    )


def _header(summary: Summary, refresh: int | None) -> str:
    sweep = summary.sweep
    again = (
        ""
        if refresh is None or sweep.ended
        else (
            f'<label class="refresh"><input type="checkbox" id="refresh" data-seconds="{refresh}" '
            f'data-updated="{sweep.updated:.0f}" checked> load again every {refresh} s</label>'
        )
    )
    seconds = sum(trial.seconds for each in sweep.configurations for trial in each.trials)
    devices = dict.fromkeys(row.cost.device for table in summary.tables for row in table.rows if row.cost)
    facts = {
        "seeds": ", ".join(map(str, sweep.seeds)),
        "scheduler": sweep.scheduler,
        "scale": sweep.scale,
        "training so far": f"{seconds / 3600:.1f} hours" + (f" on {', '.join(devices)}" if devices else ""),
        "started": _when(sweep.started),
        "ended" if sweep.ended else "updated": _when(sweep.updated),
    }
    shown = "".join(f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in facts.items())
    return (
        f'<header><h1>Sweep {escape(sweep.name)}</h1><p class="question">{escape(sweep.question)}</p>'
        f'<p class="answer">{escape(answered(summary))}</p>{_cautions(summary)}{_progress(sweep)}'
        f'<dl class="facts">{shown}</dl>{again}<p class="caution" id="silent" hidden></p></header>'
    )


def _cautions(summary: Summary) -> str:
    described = [
        trial.folder
        for each in summary.sweep.configurations
        for trial in each.trials
        if trial.folder.exists(runs.DESCRIPTION)
    ]
    notes = [*summary.cautions, *(runs.notes(described[0]) if described else ())]
    return "".join(f'<p class="caution">{escape(note)}</p>' for note in notes)


def _progress(sweep: Sweep) -> str:
    """The trials by state, as a bar and in words."""
    counts = {state: count for state in STATES if (count := sweep.count(state))}
    bar = "".join(f'<i class="{state}" style="flex-grow:{count}"></i>' for state, count in counts.items())
    named = {"waiting": "not needed"} if sweep.ended else {}
    words = "".join(
        f'<li><i class="{state}"></i>{count} {named.get(state, state)}</li>' for state, count in counts.items()
    )
    return (
        f'<div class="states"><div class="bar-of-states" aria-hidden="true">{bar}</div>'
        f'<ul class="legend" aria-label="trials by state">{words}</ul></div>'
    )


def _configurations(summary: Summary, drawn: Mapping[str, Look]) -> str:
    """The table of all configurations, which a click on a heading sorts."""
    sweep, tables = summary.sweep, summary.tables[:1]
    keys = short_names(sweep.keys)
    header = ["rank", *keys, "state", "seeds", measured(sweep.metric)]
    for table in tables:
        first, *others = (f"{title(metric)} {table.test}" for metric in table.metrics)
        header += [first, "difference [95 %]", "p", *others]
    header += ["train time", "× reference"]
    lines = [_line(summary, standing, place, drawn) for place, standing in enumerate(summary.standings, start=1)]
    notes = [f"{measured(sweep.metric)}: the best validation so far, mean ± standard deviation over seeds"]
    notes += dict.fromkeys(note for table in tables for note in table.notes)
    listed = f'<ul class="notes">{"".join(f"<li>{escape(note)}</li>" for note in notes)}</ul>'
    if len(notes) > NOTES:
        listed = f"<details><summary>{len(notes)} notes on the numbers</summary>{listed}</details>"
    return html_table(header, lines, "configurations", kind="sortable") + listed


def _line(summary: Summary, standing: Standing, place: int, drawn: Mapping[str, Look]) -> str:
    sweep, point = summary.sweep, standing.configuration.point
    reference = "reference" if standing.address == sweep.reference else ""
    own = "" if standing.name == titled(point) else standing.name  # of a row, or the baseline beside the space
    name = ", ".join(part for part in (own, reference) if part)
    head = (
        f'<th scope="row" data-sort="{place}">{mark(drawn.get(standing.address, OTHER))}{place}'
        f"{f' <small>{escape(name)}</small>' if name else ''}</th>"
    )
    seeds = f"{standing.finished} of {len(sweep.seeds)}"
    cells = [_cell(said(point[key]) if key in point else MISSING, point.get(key)) for key in sweep.keys]
    cells += [
        _cell(standing.stands, standing.stands),
        _cell(seeds, standing.finished),
        _cell(spread(standing), standing.mean),
    ]
    for table in summary.tables[:1]:
        cells += _scores(table, summary.rows(table).get(standing.address))
    row = next((row for table in summary.tables if (row := summary.rows(table).get(standing.address))), None)
    cells += [
        _cell(MISSING if standing.seconds is None else duration(standing.seconds), standing.seconds),
        _cell(factor(row.time_factor if row else None), row.time_factor if row else None),
    ]
    kind = ' class="stopped"' if standing.state in ("stopped", "failed") else ""
    return f"<tr{kind}>{head}{''.join(cells)}</tr>"


def _scores(table: Table, row: Row | None) -> list[str]:
    first, *others = (row.scores.get(metric) if row else None for metric in table.metrics)
    by, p_value = (row.difference, row.corrected) if row else (None, None)
    return [
        _cell(interval(first), first.value if first else None),
        _cell(difference(row) if row else MISSING, by),
        _cell(probability(row) if row else MISSING, p_value),
        *(_cell(f"{score.value:.1f}" if score else MISSING, score.value if score else None) for score in others),
    ]


def _cell(text: str, value: Any) -> str:
    """A cell with what it is sorted by."""
    key = "" if value is None else value if isinstance(value, int | float | str) else json.dumps(value)
    return f'<td data-sort="{escape(str(key))}">{escape(text)}</td>'


def _legend(summary: Summary, drawn: Mapping[str, Look]) -> str:
    named = [each for each in summary.standings if each.address in drawn]
    others = len(summary.standings) - len(named)
    items = [f"<li>{mark(drawn[each.address])}{escape(each.name)}</li>" for each in named]
    items += [f"<li>{mark(OTHER)}{others} others</li>"] if others else []
    return f'<ul class="legend">{"".join(items)}</ul>'


def _charts(figures: Sequence[Figure]) -> str:
    return f'<div class="charts">{"".join(map(chart, figures))}</div>' if figures else ""


def _note(text: str) -> str:
    return f'<p class="quiet">{escape(text)}</p>'


def _reading(figures: Sequence[Figure]) -> str:
    """How to read the charts of the response."""
    if not figures:
        return ""
    if figures[0].plot["data"][0]["type"] == "heatmap":
        return _note(
            "Means over seeds, ± half of their 95 % interval, the number of seeds in brackets. Blue is better than the "
            "reference, orange is worse. A dagger: not trained to the end, at the best value so far."
        )
    dots = "seeds" if figures[0].name.startswith("response") else "configurations"
    return _note(
        f"Blue: means with their 95 % interval over seeds. Grey dots: single {dots}. Dotted line: the reference, where "
        "it lies beside the swept values. Hollow: not trained to the end, at the best value so far."
    )


def _front(summary: Summary) -> str:
    """What the chart of score against cost shows, in words."""
    table = summary.tables[0]
    names = "; ".join(row.name for row in front(table))
    return (
        f"On the line, cheapest first, nothing is both better and cheaper: {names}. Means over seeds; intervals of "
        "95 % where a configuration has a colour."
    )


def _by_test(summary: Summary) -> str:
    """How to read the scores on every test set, and where their intervals are."""
    return (
        f"Blue is better than {summary.reference.name} on the same test set, orange is worse; * p < 0.05, ** "
        "p < 0.01, corrected for the configurations of one set. `augury compare sweeps/"
        f"{summary.sweep.name}` prints every set with intervals."
    )


def _decisions(summary: Summary) -> str:
    """Every decision in words, folded away."""
    names = summary.sweep.by_address
    lines = [
        f'<tr><th scope="row">{escape(names[each.address].name)}</th><td>{each.rung}, {escape(stands_at(each))}</td>'
        f"<td>{each.action}</td><td>{between(each.mean, each.low, each.high)}</td>"
        f"<td>{written(each.cut, like=each.mean)}</td><td>{each.seeds}</td><td>{_when(each.time)}</td></tr>"
        for each in summary.decisions
    ]
    header = ["configuration", "rung", "action", "mean [interval]", "cut", "seeds", "when"]
    table = html_table(header, lines, "decisions")
    return f"<details><summary>All {len(lines)} decisions</summary>{table}</details>"


def _merged(sweep: Sweep) -> str:
    lines = [
        f'<tr><th scope="row">{escape(each.called)}</th><td>{escape(each.same_as)}</td>'
        f"<td>{escape(each.reason)}</td></tr>"
        for each in sweep.merged
    ]
    return html_table(["point", "runs once, as", "because"], lines, "merged points", kind="words") if lines else ""


def _failures(sweep: Sweep) -> str:
    lines = [
        f'<tr><th scope="row">{escape(each.name)}, seed {trial.seed}</th>'
        f"<td>{escape(trial.error or 'unknown')}</td><td><code>{escape(trial.folder.uri)}</code></td></tr>"
        for each in sweep.configurations
        for trial in each.trials
        if trial.progress == "failed"
    ]
    return html_table(["trial", "error", "run"], lines, "failed trials", kind="words") if lines else ""


def _places(summary: Summary) -> str:
    """Where the sweep and its runs lie, and how to look at them with other tools."""
    listed = "".join(
        f"<div><dt>{escape(name)}</dt><dd><code>{escape(value)}</code></dd></div>"
        for name, value in places(summary.sweep).items()
    )
    lines = [
        f'<tr><th scope="row">{escape(each.name)}</th><td><code>runs/{escape(each.address)}</code></td>'
        f"<td>{', '.join(f'{trial.seed} ({trial.progress})' for trial in each.configuration.trials)}</td></tr>"
        for each in summary.standings
    ]
    table = html_table(["configuration", "runs", "seeds"], lines, "addresses", kind="words")
    return f'<dl class="places">{listed}</dl><details><summary>Addresses of all runs</summary>{table}</details>'


def _when(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
