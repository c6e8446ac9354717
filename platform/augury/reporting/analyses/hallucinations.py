"""Hallucinations under perturbation as a report."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import plotly.graph_objects as go

from augury.analysis.hallucination import LOST, TRANSLATED, Hallucinations
from augury.analysis.system import System
from augury.reporting.analyses.report import Example, Part, Report, line, of_systems, p_of, share, where
from augury.reporting.figures import Figure, chart
from augury.reporting.looks import look
from augury.reporting.numbers import MISSING, probability
from augury.reporting.tables import Cell, Table, table

SHOWN = 5
"""Examples of every system on the page; the JSON has all."""


def report(results: Sequence[Hallucinations], systems: Sequence[System], settings: Mapping[str, Any]) -> Report:
    """Return the report of `hallucinations`."""
    return of_systems(
        "hallucinations",
        "Hallucinations under perturbation",
        answer(results, systems),
        [
            Part("Sentences that are lost", _table(results, settings)),
            Part(
                "By the subword in front",
                figures=(_by_subword(results),),
                legend=tuple((look(index), result.system) for index, result in enumerate(results)),
            ),
            Part(
                "Examples",
                text=f"The first {SHOWN} sentences of every system; the JSON beside the page has all.",
                examples=tuple(
                    _example(result, system, index)
                    for result, system in zip(results, systems, strict=True)
                    for index in range(min(SHOWN, len(result.examples)))
                ),
            ),
        ],
        systems,
        [asdict(result) for result in results],
        settings,
    )


def answer(results: Sequence[Hallucinations], systems: Sequence[System]) -> str:
    """Say how many sentences each system loses, and whether the difference is real."""
    counts = ", ".join(f"{result.system} {len(result.hallucinated)}" for result in results)
    head = f"Of {where(systems)}, one subword in front makes a hallucination of: {counts}"
    compared = [result for result in results if result.against_first]
    if not compared:
        return f"{head}."
    verdicts = []
    for result in compared:
        test = result.against_first
        assert test is not None
        real = "the difference to the first is real" if test.p_sign < 0.05 else "the difference may be chance"
        verdicts.append(
            f"{result.system}: {real} (sign test {p_of(test.p_sign)})"
            if len(compared) > 1
            else f"{real} (sign test {p_of(test.p_sign)})"
        )
    return f"{head}; {'; '.join(verdicts)}."


def _table(results: Sequence[Hallucinations], settings: Mapping[str, Any]) -> Table:
    rows = []
    for result in results:
        test = result.against_first
        rows.append(
            [
                result.system,
                Cell(f"{result.candidates:,}", result.candidates),
                Cell(f"{len(result.hallucinated):,}", len(result.hallucinated)),
                f"{share(result.share.value)} [{share(result.share.low)}, {share(result.share.high)}]",
                Cell(f"{result.pairs:,}", result.pairs),
                MISSING if test is None else f"{test.more:,} / {test.fewer:,}",
                MISSING if test is None else probability(test.p_sign),
            ]
        )
    what = {"base": "the output for the source as it is", "reference": "the reference"}[settings["compare_to"]]
    columns = ["system", "translated", "lost", "share of all [95 %]", "pairs", "lost here only / there only", "p"]
    count = len(results[0].subwords)
    return table(
        columns,
        rows,
        title="Hallucinations under perturbation",
        notes=(
            f"A sentence is translated where adjusted BLEU of its output is above {TRANSLATED}, and lost where one of "
            f"the {count} most frequent subwords of the training source, put before it, makes adjusted BLEU against "
            f"{what} fall below {LOST}; pairs: sentences with subwords that do it.",
            "Adjusted BLEU of a short sentence is 0 where no two neighbouring words are kept: what is lost may still "
            "be about the source. Read the examples.",
            "A system that translates fewer sentences has fewer to lose: compare the shares of those translated too.",
            "p: sign test over the sentences that are lost by one of the two systems alone.",
        ),
    )


def _by_subword(results: Sequence[Hallucinations]) -> Figure:
    names = list(dict.fromkeys(name for result in results for name in result.subwords))
    traces = []
    for index, result in enumerate(results):
        counts = dict(zip(result.subwords, result.by_subword, strict=True))
        system = html.escape(result.system)
        traces.append(
            go.Bar(
                name=system,
                x=[html.escape(name) for name in names],
                y=[counts.get(name) for name in names],
                marker={"color": look(index).colour},
                hovertemplate=f"{system}: %{{y}} sentences with %{{x}} in front<extra></extra>",
            )
        )
    drawing = chart(traces, "subword in front, the most frequent first", "sentences lost")
    drawing.update_xaxes(type="category", tickangle=-60)
    most = max(results, key=lambda result: max(result.by_subword, default=0))
    worst = most.subwords[most.by_subword.index(max(most.by_subword))] if any(most.by_subword) else MISSING
    caption = (
        f"Sentences lost by the subword in front; most by {worst}, {max(most.by_subword, default=0)} of {most.system}"
    )
    return Figure("by-subword", "Sentences lost, by the subword in front", caption, drawing, narrowest=900)


def _example(result: Hallucinations, system: System, index: int) -> Example:
    lost = result.examples[index]
    return Example(
        f"{result.system}, {line(system, lost.sentence)}",
        {"source": system.sources[lost.sentence], "reference": system.references[lost.sentence]},
        {"as it is": system.outputs()[lost.sentence], f"with {lost.subword} in front": lost.output},
    )
