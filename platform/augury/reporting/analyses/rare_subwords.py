"""The rarest subwords of views as a report."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import plotly.graph_objects as go

from augury.analysis.rare_subwords import Piece, RareSubwords
from augury.analysis.system import System
from augury.reporting.analyses.report import Part, Report, line, logarithmic, of_systems, p_of, where
from augury.reporting.figures import COLUMN, Figure, chart
from augury.reporting.looks import look
from augury.reporting.numbers import MISSING, probability
from augury.reporting.tables import Cell, Table, table
from augury.text.vocabulary_settings import SPACE

PIXELS, PANEL = 13, 130
"""The width of a letter, and the height of a view, in the chart of a sentence."""
GRID = "rgba(128,136,147,0.3)"
"""Of all panels; a page colours the grid of the first axis alone."""
UNSEEN = 0.5
"""Where a chart with a logarithmic axis puts 0."""


def report(results: Sequence[RareSubwords], systems: Sequence[System], settings: Mapping[str, Any]) -> Report:
    """Return the report of `rare_subwords`."""
    parts = [Part("The rarest subword of a sentence", _table(results, settings))]
    for place, (result, system) in enumerate(zip(results, systems, strict=True)):
        figures = [
            _distribution(result, place),
            *(_sentence(result, system, place, i) for i in range(len(result.examples))),
        ]
        of_system = f": {result.system}" if len(results) > 1 else ""
        parts.append(
            Part(
                f"Sentences and their pieces{of_system}",
                figures=tuple(figures),
                legend=tuple((look(index), view.view) for index, view in enumerate(result.views)),
                text="Sentences are drawn without regard to their pieces. A line is a piece over the letters of the "
                "plain text that it stands for; its height says how often the training source of its view has it. A "
                "piece that was never seen is at the lower edge.",
            )
        )
    return of_systems(
        "rare_subwords",
        "Rarest subwords",
        answer(results, systems),
        parts,
        systems,
        [asdict(result) for result in results],
        settings,
    )


def answer(results: Sequence[RareSubwords], systems: Sequence[System]) -> str:
    """Say in which views the rarest subword is more frequent, and how sure that is."""
    sentences = []
    several = [result for result in results if len(result.views) > 1]
    for result in several or results:
        plain, *others = result.views
        of_system = f"{result.system}: " if len(results) > 1 else ""
        if not others:
            sentences.append(
                f"{of_system}the rarest subword of a sentence was seen {plain.mean.value:.1f} times in training on "
                f"average (median {plain.median:.0f}); the run has no other view to compare"
            )
            continue
        summary = []
        for view in others:
            test = view.against_plain
            assert test is not None and view.p_corrected is not None
            (verb, most), (other, least) = sorted(
                [("more", test.more), ("less", test.fewer)], key=lambda side: side[1], reverse=True
            )
            sure = p_of(view.p_corrected) + ("" if view.p_corrected < 0.05 else ", may be chance")
            summary.append(
                f"{view.view} {view.mean.value:.1f}, {verb} often in {most:,} sentences and {other} often in "
                f"{least:,} ({sure})"
            )
        sentences.append(
            f"{of_system}the rarest subword of a sentence was seen in training {plain.mean.value:.1f} times on average "
            f"in plain text; {'; '.join(summary)}"
        )
    return f"On {where(systems)}, {'. '.join(sentences)}."


def _table(results: Sequence[RareSubwords], settings: Mapping[str, Any]) -> Table:
    rows = []
    for result in results:
        for view in result.views:
            test = view.against_plain
            rows.append(
                [
                    f"{result.system}, {view.view}" if len(results) > 1 else view.view,
                    Cell(f"{view.mean.value:.1f} [{view.mean.low:.1f}, {view.mean.high:.1f}]", view.mean.value),
                    Cell(f"{view.median:g}", view.median),
                    Cell(f"{view.unseen:,}", view.unseen),
                    MISSING if test is None else f"{test.difference:+.1f} [{test.low:+.1f}, {test.high:+.1f}]",
                    MISSING if test is None else probability(test.p_bootstrap),
                    MISSING if test is None else f"{test.more:,} / {test.fewer:,}",
                    MISSING if view.p_corrected is None else probability(view.p_corrected),
                ]
            )
    counted = "over all views together" if settings["pooled"] else "in the training source of the view itself"
    return table(
        [
            "view",
            "mean count [95 %]",
            "median",
            "with an unseen piece",
            "mean − plain [95 %]",
            "p, bootstrap",
            "more / less often",
            "p, signs",
        ],
        rows,
        title="Count of the rarest subword of a sentence",
        notes=(
            f"Counted {counted}; a piece that training has not seen counts 0.",
            "Counts are skewed, and a few sentences make the mean: the test of signs asks in how many sentences the "
            "rarest subword of the view is the more frequent one; its p is corrected for the views of a run.",
        ),
    )


def _distribution(result: RareSubwords, place: int) -> Figure:
    traces = []
    for index, view in enumerate(result.views):
        counts, values = np.array(view.rarest), np.unique([1, *view.rarest])
        values = values[values > 0]
        drawn = look(index)
        traces.append(
            go.Scatter(
                mode="lines",
                name=html.escape(view.view),
                x=values.tolist(),
                y=[float((counts >= value).mean()) for value in values],
                line={"color": drawn.colour, "dash": drawn.dash, "width": 2, "shape": "vh"},
                hovertemplate=f"{html.escape(view.view)}: %{{y:.1%}} at least %{{x}} times<extra></extra>",
            )
        )
    drawing = logarithmic(chart(traces, "count in training", "share of sentences", height=320), "x")
    drawing.update_yaxes(tickformat=".0%")
    seen = ", ".join(f"{view.view} {1 - view.unseen / len(view.rarest):.0%}" for view in result.views)
    title = "Sentences whose rarest subword was seen at least so often"
    return Figure(f"distribution-{place}", title, f"{title}; at least once: {seen}", drawing)


def _sentence(result: RareSubwords, system: System, place: int, index: int) -> Figure:
    """Draw the pieces of a sentence over its letters, a panel for every view, as high as they are frequent."""
    row, views = result.examples[index]
    text = system.sources[row]
    traces = [trace for number, (view, pieces) in enumerate(views.items()) for trace in _pieces(number, view, pieces)]
    drawing = chart(traces, "", "", height=PANEL * len(views) + 50)
    most = max((piece.count for pieces in views.values() for piece in pieces), default=1)
    for number, view in enumerate(views):
        top = 1 - number / len(views)
        drawing.update_layout(
            {
                f"yaxis{number + 1}": {
                    "type": "log",
                    "dtick": 1,
                    "range": [math.log10(UNSEEN) - 0.1, math.log10(most) + 0.7],
                    "domain": [top - 0.92 / len(views), top],
                    "title": {"text": html.escape(view)},
                    "zeroline": False,
                    "gridcolor": GRID,
                }
            }
        )
    at = [place + 0.5 for place in range(len(text))]
    drawing.update_xaxes(tickmode="array", tickvals=at, ticktext=[html.escape(letter) for letter in text])
    drawing.update_xaxes(showgrid=False, range=[-1, len(text)], tickangle=0, anchor=f"y{len(views)}")
    least = {view: min(pieces, key=lambda piece: piece.count, default=Piece("", 0)) for view, pieces in views.items()}
    summary = ", ".join(f"{view} {piece.text} ({piece.count})" for view, piece in least.items())
    title, width = f"{line(system, row)}; the rarest: {summary}", max(COLUMN + 1, PIXELS * len(text))
    return Figure(f"sentence-{place}-{index}", title, f"{text}: {summary}", drawing, narrowest=width)


def _pieces(number: int, view: str, pieces: Sequence[Piece]) -> list[go.Scatter]:
    """The lines and the labels of a view's panel."""
    spans, drawn, name = _spans(pieces), look(number), html.escape(view)
    heights = [max(UNSEEN, piece.count) for piece in pieces]
    axis = f"y{number + 1}"
    lines = go.Scatter(
        mode="lines",
        name=name,
        x=[x for start, end in spans for x in (start, end, None)],
        y=[y for height in heights for y in (height, height, None)],
        yaxis=axis,
        line={"color": drawn.colour, "width": 4},
        hoverinfo="skip",
    )
    labels = go.Scatter(
        mode="text",
        name=name,
        x=[(start + end) / 2 for start, end in spans],
        y=heights,
        yaxis=axis,
        text=[html.escape(piece.text.removeprefix(SPACE)) for piece in pieces],
        textposition="top center",
        textfont={"size": 11},
        customdata=[[html.escape(piece.text), piece.count] for piece in pieces],
        hovertemplate=f"{name} %{{customdata[0]}}: %{{customdata[1]}} times<extra></extra>",
    )
    return [lines, labels]


def _spans(pieces: Sequence[Piece]) -> list[tuple[float, float]]:
    """The letters of the text, from and to, that pieces stand for; the space before the text is at -1."""
    spans, start = [], -1
    for piece in pieces:
        end = start + len(piece.text)
        spans.append((start + 0.1 + (piece.text[:1] == SPACE and len(piece.text) > 1), end - 0.1))
        start = end
    return spans
