"""The report of the rarest subwords of views."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from augury.analysis.rare_subwords import (
    Piece,
    RareSubwords,
    ViewCounts,
    rare_subwords,
    rarest_piece,
)
from augury.analysis.system import System
from augury.reporting.analyses.analysis import Analysis, heading, test_label
from augury.reporting.figures import Figure, chart, trace
from augury.reporting.numbers import MISSING, interval, p_text, probability, signed
from augury.reporting.report import Charts, Section, section
from augury.reporting.styles import legend, system_style
from augury.reporting.tables import Cell, Table, cell, records, table
from augury.text.vocabulary.settings import SPACE

NARROWEST, PIXELS, PANEL = 561, 13, 130
"""The minimum width, the width of a letter and the height of a view in the chart of a sentence."""
GRID = "rgba(128,136,147,0.3)"
"""The colour of the grid in all panels; a page colours only that of the first axis."""
UNSEEN = 0.5
"""The position of 0 on a logarithmic axis."""


class RareSubwordAnalysis(Analysis):
    """How often training has seen the rarest subword of a sentence, by view."""

    TITLE = "Rarest subwords"

    analysis: str = "rare_subwords"
    pooled: bool = False
    """Count over all views together."""
    texts: tuple[str, ...] | None = None
    """Source sentences whose pieces are shown too."""

    def compute(self, systems: Sequence[System]) -> Sequence[RareSubwords]:
        """Return the results."""
        return rare_subwords(systems, pooled=self.pooled, texts=self.texts)

    def answer(self, results: Sequence[RareSubwords], systems: Sequence[System]) -> str:
        """Return the views whose rarest subword is more frequent, and how certain that is."""
        sentences = []
        for result in [result for result in results if len(result.views) > 1] or results:
            plain, *others = result.views
            of_system = f"{result.system}: " if len(results) > 1 else ""
            seen = f"{plain.mean.value:.1f} times"
            if others:
                sentences.append(
                    f"{of_system}the rarest subword of a sentence was seen in training {seen} on "
                    f"average in plain text; {'; '.join(map(_against_plain, others))}"
                )
            else:
                sentences.append(
                    f"{of_system}the rarest subword of a sentence was seen {seen} in training on "
                    f"average (median {plain.median:.0f}); the run has no other view to compare"
                )
        return f"On {test_label(systems)}, {'. '.join(sentences)}."

    def sections(self, results: Sequence[RareSubwords], systems: Sequence[System]) -> list[Section]:
        """Return the counts of the rarest subwords, their distribution, and sentences with their
        pieces."""
        shown = [section("The rarest subword of a sentence", _table(results, self.pooled))]
        if results[0].texts:
            shown.append(section("Sentences that were given", _texts(results)))
        text = (
            "Sentences of the test set are drawn without regard to their pieces. A line is a piece "
            "over the letters of the plain text that it represents; its height says how often the "
            "training source of its view has it. A piece that was never seen is at the lower edge."
        )
        for place, (result, system) in enumerate(zip(results, systems, strict=True)):
            headed = [
                *result.texts,
                *((heading(system, row), views) for row, views in result.examples),
            ]
            sentences = [
                _sentence(f"sentence-{place}-{index}", *of) for index, of in enumerate(headed)
            ]
            of_system = f": {result.system}" if len(results) > 1 else ""
            views = legend(view.view for view in result.views)
            charts = Charts([_distribution(result, place), *sentences], views)
            shown.append(section(f"Sentences and their pieces{of_system}", text, charts))
        return shown


def _against_plain(view: ViewCounts) -> str:
    """Return how a view compares with plain text, and how certain that is."""
    test, p_value = view.against_plain, view.p_corrected
    assert test is not None and p_value is not None
    verbs = {"more": test.more, "less": test.fewer}
    most, least = sorted(verbs, key=lambda verb: verbs[verb], reverse=True)
    chance = "" if p_value < 0.05 else ", may be chance"
    return (
        f"{view.view} {view.mean.value:.1f}, {most} often in {verbs[most]:,} sentences and {least} "
        f"often in {verbs[least]:,} ({p_text(p_value)}{chance})"
    )


def _table(results: Sequence[RareSubwords], pooled: bool) -> Table:
    rows = []
    for result in results:
        for view in result.views:
            mean, test = view.mean, view.against_plain
            difference = interval(test.difference, test.low, test.high, signed) if test else MISSING
            row = {
                "view": f"{result.system}, {view.view}" if len(results) > 1 else view.view,
                "mean count [95 %]": Cell(interval(mean.value, mean.low, mean.high), mean.value),
                "median": cell(view.median, "g"),
                "with an unseen piece": cell(view.unseen, ","),
                "mean − plain [95 %]": Cell(difference, test.difference if test else None),
                "p, bootstrap": cell(test.p_bootstrap if test else None, probability),
                "more / less often": f"{test.more:,} / {test.fewer:,}" if test else MISSING,
                "p, signs": cell(view.p_corrected, probability),
            }
            rows.append(row)
    counted = "over all views together" if pooled else "in the training source of the view itself"
    notes = (
        f"Counted {counted}; a piece that training has not seen counts 0.",
        "Counts are skewed, and a few sentences make the mean: the test of signs asks in how many "
        "sentences the rarest subword of the view is the more frequent one; its p is corrected "
        "for the views of a run.",
    )
    return records(rows, title="Count of the rarest subword of a sentence", notes=notes)


def _texts(results: Sequence[RareSubwords]) -> Table:
    """Return the rarest subword of every given sentence in every view (CipherDAug, figures 7 and
    8)."""
    rows = []
    for result in results:
        for text, views in result.texts:
            for view, pieces in views.items():
                rarest = rarest_piece(pieces)
                rows.append([text, result.system, view, rarest.text, cell(rarest.count, ",")])
    columns = ("sentence", "system", "view", "rarest subword", "count in training")
    title = "Rarest subwords of the sentences that were given"
    return table(columns, rows, title=title, kind="words")


def _distribution(result: RareSubwords, place: int) -> Figure:
    traces = []
    for index, view in enumerate(result.views):
        counts, values = np.array(view.rarest), np.unique([1, *view.rarest])
        values = values[values > 0]
        shares = [float((counts >= value).mean()) for value in values]
        hover = ": %{y:.1%} at least %{x} times"
        x, style = values.tolist(), system_style(index)
        traces.append(trace(view.view, style, x, shares, hover, mode="lines", line_shape="vh"))
    x_title, y_title = "count in training", "share of sentences"
    drawing = chart(traces, x_title, y_title, height=320, yaxis_tickformat=".0%")
    drawing.update_xaxes(type="log", dtick=1, rangemode="normal")
    seen = ", ".join(
        f"{view.view} {1 - view.unseen / len(view.rarest):.0%}" for view in result.views
    )
    title = "Sentences whose rarest subword was seen at least so often"
    return Figure(f"distribution-{place}", title, f"{title}; at least once: {seen}", drawing)


def _sentence(name: str, label: str, views: Mapping[str, Sequence[Piece]]) -> Figure:
    """Draw the pieces of a sentence over its letters, a panel for every view.

    Height shows frequency.
    """
    text, count = _spelled(next(iter(views.values()))), len(views)
    traces = [
        drawn
        for number, (view, pieces) in enumerate(views.items())
        for drawn in _pieces(number, view, pieces)
    ]
    drawing = chart(traces, "", "", height=PANEL * count + 50)
    for number, view in enumerate(views):
        domain = [1 - (number + 0.92) / count, 1 - number / count]
        drawing.update_layout(
            {f"yaxis{number + 1}": {"domain": domain, "title_text": html.escape(view)}}
        )
    most = max((piece.count for pieces in views.values() for piece in pieces), default=1)
    ends = [math.log10(UNSEEN) - 0.1, math.log10(max(1, most)) + 0.7]
    drawing.update_yaxes(type="log", dtick=1, range=ends, zeroline=False, gridcolor=GRID)
    positions, letters = [place + 0.5 for place in range(len(text))], list(map(html.escape, text))
    drawing.update_xaxes(tickmode="array", tickvals=positions, ticktext=letters, tickangle=0)
    drawing.update_xaxes(showgrid=False, range=[-1, len(text)], anchor=f"y{count}")
    least = {
        view: min(pieces, key=lambda piece: piece.count, default=Piece("", 0))
        for view, pieces in views.items()
    }
    summary = ", ".join(f"{view} {piece.text} ({piece.count})" for view, piece in least.items())
    title, width = f"{label}; the rarest: {summary}", max(NARROWEST, PIXELS * len(text))
    return Figure(name, title, f"{text}: {summary}", drawing, min_width=width)


def _spelled(pieces: Sequence[Piece]) -> str:
    """Return the text of pieces, which preprocessing such as tokenisation may have changed."""
    return "".join(piece.text for piece in pieces).replace(SPACE, " ").removeprefix(" ")


def _pieces(number: int, view: str, pieces: Sequence[Piece]) -> list[go.Scatter]:
    """Return the lines and the labels of a view's panel."""
    spans, heights = list(_spans(pieces)), [max(UNSEEN, piece.count) for piece in pieces]
    x = [x for start, end in spans for x in (start, end, None)]
    y = [y for height in heights for y in (height, height, None)]
    line = {"color": system_style(number).colour, "width": 4}
    labels = trace(
        view,
        system_style(number),
        [(start + end) / 2 for start, end in spans],
        heights,
        " %{customdata[0]}: %{customdata[1]} times",
        mode="text",
        yaxis=f"y{number + 1}",
        text=[html.escape(piece.text.removeprefix(SPACE)) for piece in pieces],
        textposition="top center",
        textfont_size=11,
        customdata=[[html.escape(piece.text), piece.count] for piece in pieces],
    )
    return [
        go.Scatter(mode="lines", x=x, y=y, yaxis=f"y{number + 1}", line=line, hoverinfo="skip"),
        labels,
    ]


def _spans(pieces: Sequence[Piece]) -> Iterator[tuple[float, float]]:
    """Yield the range of letters, start and end, of every piece.

    The space before the text is at -1.
    """
    start = -1
    for piece in pieces:
        end = start + len(piece.text)
        yield start + 0.1 + (piece.text[:1] == SPACE and len(piece.text) > 1), end - 0.1
        start = end


ANALYSIS = RareSubwordAnalysis
