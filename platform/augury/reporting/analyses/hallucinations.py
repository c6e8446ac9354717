"""The report of hallucinations under perturbation."""

from __future__ import annotations

import html
from collections.abc import Sequence

from pydantic import Field

from augury.analysis.hallucination import (
    LOST,
    MAX_SUBWORDS,
    TRANSLATED,
    CompareTo,
    Hallucinations,
    hallucinations,
)
from augury.analysis.system import System
from augury.reporting.analyses.analysis import Analysis, heading, test_label
from augury.reporting.figures import Figure, chart, trace
from augury.reporting.numbers import MISSING, interval, p_text, probability, share
from augury.reporting.report import Charts, Section, section
from augury.reporting.samples import Example
from augury.reporting.styles import legend, system_style
from augury.reporting.tables import Cell, Table, cell, records
from augury.scoring.significance import holm

SHOWN = 5
"""The number of examples of every system on the page; the JSON has all."""


class HallucinationAnalysis(Analysis):
    """Sentences that are lost when a frequent subword is put before them."""

    TITLE = "Hallucinations under perturbation"

    analysis: str = "hallucinations"
    subwords: int = Field(MAX_SUBWORDS, ge=1)
    """Number of frequent subwords to insert before a source."""
    compare_to: CompareTo = "base"
    """Compare a perturbed output with the unperturbed one (base) or the reference."""
    normalise_weights: bool = False
    """Adjusted BLEU with weights that sum to 1."""

    def compute(self, systems: Sequence[System]) -> Sequence[Hallucinations]:
        """Return the results."""
        return hallucinations(
            systems,
            subwords=self.subwords,
            compare_to=self.compare_to,
            normalise_weights=self.normalise_weights,
        )

    def answer(self, results: Sequence[Hallucinations], systems: Sequence[System]) -> str:
        """Return how many sentences each system loses, and whether the difference is real."""
        if not any(result.candidates for result in results):
            return (
                f"Of {test_label(systems)}, no output has two neighbouring words of its reference "
                f"(adjusted BLEU above {TRANSLATED}): hallucinations are measured for models that "
                "translate, into languages written with spaces."
            )
        counts = ", ".join(f"{result.system} {len(result.hallucinated)}" for result in results)
        tests = {
            result.system: result.against_first.p_sign for result in results if result.against_first
        }
        verdicts = [
            f"Of {test_label(systems)}, one subword in front makes a hallucination of: {counts}"
        ]
        corrected = holm(list(tests.values()))
        for system, p_value in zip(tests, corrected, strict=True):
            certainty = "to the first is real" if p_value < 0.05 else "may be chance"
            of_system, corrected_p = (f"{system}: ", ", corrected") if len(tests) > 1 else ("", "")
            verdicts.append(
                f"{of_system}the difference {certainty} (sign test {p_text(p_value)}{corrected_p})"
            )
        return f"{'; '.join(verdicts)}."

    def sections(
        self, results: Sequence[Hallucinations], systems: Sequence[System]
    ) -> list[Section]:
        """Return the numbers of lost sentences, in all and by subword, and examples."""
        examples = [
            _example(result, system, index)
            for result, system in zip(results, systems, strict=True)
            for index in range(min(SHOWN, len(result.examples)))
        ]
        text = (
            f"The first {SHOWN} sentences of every system; the JSON file next to the page has all."
        )
        names = legend(result.system for result in results)
        return [
            section("Sentences that are lost", _table(results, self.compare_to)),
            section("By the subword in front", Charts(_by_subword(results), names)),
            section("Examples", text, *examples),
        ]


def _table(results: Sequence[Hallucinations], compare_to: CompareTo) -> Table:
    rows = []
    for result in results:
        test, ends = result.against_first, (result.share.value, result.share.low, result.share.high)
        row = {
            "system": result.system,
            "translated": cell(result.candidates, ","),
            "lost": cell(len(result.hallucinated), ","),
            "share of all [95 %]": Cell(interval(*ends, share), result.share.value),
            "of translated": cell(len(result.hallucinated) / max(1, result.candidates), share),
            "pairs": cell(result.pairs, ","),
            "lost here only / there only": f"{test.more:,} / {test.fewer:,}" if test else MISSING,
            "p": cell(test.p_sign if test else None, probability),
        }
        rows.append(row)
    base = "the output for the source as it is"
    reference = base if compare_to == "base" else "the reference"
    count = len(results[0].subwords)
    notes = (
        f"A sentence is translated where adjusted BLEU of its output is above {TRANSLATED}, and "
        f"lost where one of the {count} most frequent subwords of the training source, put before "
        f"it, makes adjusted BLEU against {reference} fall below {LOST}; pairs: sentences with "
        "subwords that do it.",
        "Adjusted BLEU of a short sentence is 0 where no two neighbouring words are kept: what is "
        "lost may still be about the source. Read the examples.",
        "A system that translates fewer sentences has fewer to lose: compare the shares of those "
        "translated too.",
        "p: sign test over the sentences that are lost by one of the two systems alone, not "
        "corrected.",
    )
    return records(rows, title="Hallucinations under perturbation", notes=notes)


def _by_subword(results: Sequence[Hallucinations]) -> list[Figure]:
    counts = [dict(zip(result.subwords, result.by_subword, strict=True)) for result in results]
    names = list(dict.fromkeys(name for count in counts for name in count))
    hover, traces = ": %{y} sentences with %{x} in front", []
    for index, (result, count) in enumerate(zip(results, counts, strict=True)):
        values, shown = [count.get(name) for name in names], [html.escape(name) for name in names]
        traces.append(trace(result.system, system_style(index), shown, values, hover, mode="bars"))
    axis = {"type": "category", "tickangle": -60}
    x = "subword in front, the most frequent first"
    drawing = chart(traces, x, "sentences lost", xaxis=axis)
    pairs = zip(results, counts, strict=True)
    lost = [(most, name, result.system) for result, count in pairs for name, most in count.items()]
    most, worst, system = max(
        lost, key=lambda entry: entry[0], default=(0, MISSING, results[0].system)
    )
    by = f"{worst if most else MISSING}, {most} of {system}"
    title = "Sentences lost, by the subword in front"
    caption = f"Sentences lost by the subword in front; most by {by}"
    return [Figure("by-subword", title, caption, drawing, min_width=900)]


def _example(result: Hallucinations, system: System, index: int) -> Example:
    lost = result.examples[index]
    return Example(
        f"{result.system}, {heading(system, lost.sentence)}",
        {"source": system.sources[lost.sentence]},
        {"reference": system.references[lost.sentence]},
        {"as it is": system.outputs()[lost.sentence], f"with {lost.subword} in front": lost.output},
    )


ANALYSIS = HallucinationAnalysis
