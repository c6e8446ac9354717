"""Outputs from the views of a source as a report."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import plotly.graph_objects as go

from augury.analysis.outputs import Outputs
from augury.analysis.system import System
from augury.reporting.analyses.report import Example, Part, Report, line, of_systems, p_of, share, where
from augury.reporting.figures import Figure, chart, error_bars
from augury.reporting.looks import look
from augury.reporting.numbers import MISSING, probability
from augury.reporting.tables import Cell, Table, table


def report(results: Sequence[Outputs], systems: Sequence[System], settings: Mapping[str, Any]) -> Report:
    """Return the report of `outputs`."""
    parts = [Part("Scores by input view", _table(results), (_chart(results),))]
    for result, system in zip(results, systems, strict=True):
        if result.examples:
            examples = [
                Example(
                    line(system, example.sentence),
                    {"source": example.source, "reference": example.reference},
                    example.outputs,
                )
                for example in result.examples
            ]
            of_system = f": {result.system}" if len(results) > 1 else ""
            summary = (
                f"Drawn from the {result.sentences - result.all_same:,} sentences whose outputs are not all equal."
            )
            parts.append(Part(f"Outputs side by side{of_system}", examples=tuple(examples), text=summary))
    return of_systems(
        "outputs",
        "Outputs by view",
        answer(results, systems),
        parts,
        systems,
        [asdict(result) for result in results],
        settings,
    )


def answer(results: Sequence[Outputs], systems: Sequence[System]) -> str:
    """Say how well each view is translated, and how often alike."""
    summary = []
    several = [result for result in results if len(result.views) > 1]
    for result in several or results:
        plain, *others = result.views
        head = f"{result.system} reaches BLEU {plain.value:.1f} from plain text"
        if not others:
            summary.append(f"{head} and has no other view")
            continue
        views = []
        for view in others:
            test = view.against_plain
            assert test is not None
            real = "" if test.p_value < 0.05 else ", may be chance"
            views.append(f"{view.value:.1f} from {view.view} ({test.value:+.1f}, {p_of(test.p_value)}{real})")
        summary.append(
            f"{head}, {', '.join(views)}; all outputs are equal for {share(result.all_same / result.sentences)}"
        )
    return f"On {where(systems)}, {'. '.join(summary)}."


def _table(results: Sequence[Outputs]) -> Table:
    rows = []
    for result in results:
        for view in result.views:
            test = view.against_plain
            rows.append(
                [
                    f"{result.system}, {view.view}",
                    Cell(f"{view.value:.1f} [{view.interval.low:.1f}, {view.interval.high:.1f}]", view.value),
                    MISSING if test is None else f"{test.value:+.1f} [{test.low:+.1f}, {test.high:+.1f}]",
                    MISSING if test is None else probability(test.p_value),
                    Cell(share(view.same_as_plain / result.sentences), view.same_as_plain),
                ]
            )
    return table(
        ["input", "BLEU [95 %]", "difference to plain [95 %]", "p", "output as from plain"],
        rows,
        title="BLEU by input view",
        notes=(f"{results[0].signature}; paired bootstrap over sentences, p not corrected for the views.",),
    )


def _chart(results: Sequence[Outputs]) -> Figure:
    traces = []
    for index, result in enumerate(results):
        drawn, name = look(index), html.escape(result.system)
        traces.append(
            go.Scatter(
                mode="markers",
                name=name,
                x=[
                    html.escape(f"{view.view}, {result.system}" if len(results) > 1 else view.view)
                    for view in result.views
                ],
                y=[view.value for view in result.views],
                error_y=error_bars([(view.value, view.interval.low, view.interval.high) for view in result.views]),
                marker={"color": drawn.colour, "symbol": drawn.symbol, "size": 10},
                hovertemplate=f"{name} from %{{x}}: %{{y:.1f}}<extra></extra>",
            )
        )
    drawing = chart(traces, "input view", "BLEU")
    drawing.update_xaxes(type="category")
    summary = ", ".join(f"{result.system} {view.view} {view.value:.1f}" for result in results for view in result.views)
    return Figure("bleu", "BLEU by input view, with 95 % intervals", f"BLEU by input view: {summary}", drawing)
