"""Hallucinations under perturbation: sentences whose translation is lost when one frequent subword
is put before them.

Algorithm 2 of Raunak, Menezes and Junczys-Dowmunt (2021, "The curious case of hallucinations in
neural machine translation"), as in section 4.2 and table 8 of CipherDAug: a sentence counts once,
however many subwords cause it, and only if the model translates it at all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from pydantic import Field

from augury.analysis.analysis import Analysis, heading, test_label
from augury.analysis.paired import Mean, PairedDifference, mean, paired_difference
from augury.analysis.system import System
from augury.core.words import clusters, is_unspaced
from augury.reporting.numbers import MISSING, interval, p_text, probability, share
from augury.reporting.report import Section, section
from augury.reporting.samples import Example
from augury.reporting.tables import Cell, Table, cell, records
from augury.scoring.sacre import bleu_counts
from augury.scoring.significance import holm

MAX_SUBWORDS = 50
TRANSLATED, LOST = 0.09, 0.01
"""A sentence counts as translated above the first adjusted BLEU, and as lost below the second."""
WEIGHTS = (1.0, 0.8)
SHOWN = 5
"""The number of examples of every system on the page; the JSON has all."""


@dataclass(frozen=True)
class Hallucination:
    """A hallucination: the index of its sentence, the subword that was put before the source,
    and the output."""

    sentence: int
    subword: str
    output: str


@dataclass(frozen=True)
class Hallucinations:
    """The hallucinations of one system."""

    system: str
    sentences: int
    candidates: int
    """The number of sentences that are translated, by the score of their output against the
    reference."""
    subwords: tuple[str, ...]
    """The most frequent pieces of the training source."""
    hallucinated: tuple[int, ...]
    """The sentences for which at least one subword causes a hallucination."""
    pairs: int
    """The number of hallucinations, among candidates times subwords."""
    share: Mean
    """The share of hallucinated sentences among all."""
    by_subword: tuple[int, ...]
    """The number of hallucinations of every subword, in the order of `subwords`."""
    examples: tuple[Hallucination, ...]
    """The first hallucination of every hallucinated sentence."""
    against_first: PairedDifference | None
    """The hallucinated sentences (1) and the others (0) against those of the first system; None
    for that itself."""


def adjusted_bleu(hypothesis: str, reference: str) -> float:
    """Return BP * exp(1.0 ln p1 + 0.8 ln p2) of words between spaces, or of characters in scripts
    without, 0 to 1 (Lee et al., 2018); 0 if a p is 0."""
    words, expected = tuple(hypothesis.split()), tuple(reference.split())
    if is_unspaced([reference]):
        words, expected = tuple(clusters("".join(words))), tuple(clusters("".join(expected)))
    counts, orders = bleu_counts(words, expected), len(WEIGHTS)
    matched, possible = counts[2 : 2 + orders], counts[6 : 6 + orders]
    if not all(matched):
        return 0.0
    exponent = sum(w * math.log(m / n) for w, m, n in zip(WEIGHTS, matched, possible, strict=True))
    brevity = min(0.0, 1 - len(expected) / len(words))
    return math.exp(brevity + exponent)


def frequent_subwords(system: System, most: int) -> list[int]:
    """Return the ids of the most frequent pieces of the training source, no special ones.

    Ties: lower ids first.
    """
    counts = system.counts().copy()
    counts[list(system.special)] = 0
    order = np.argsort(-counts, kind="stable")[:most]
    return [int(piece) for piece in order if counts[piece]]


class HallucinationAnalysis(Analysis):
    """Sentences that are lost when a frequent subword is put before them."""

    TITLE = "Hallucinations under perturbation"

    analysis: str = "hallucinations"
    subwords: int = Field(MAX_SUBWORDS, ge=1)
    """Number of frequent subwords to insert before a source."""

    def compute(self, systems: Sequence[System]) -> list[Hallucinations]:
        """Return the hallucinations of every system on its test sentences.

        Translates up to `subwords` x sentences. Translations of perturbed sources are compared with
        that of the original source: the public re-implementations of the paper's algorithm disagree
        on whether it is that or the reference.
        """
        results: list[Hallucinations] = []
        first: np.ndarray | None = None
        for system in systems:
            prefixes = frequent_subwords(system, self.subwords)
            base, sources = system.outputs(), system.ids()
            scores = map(adjusted_bleu, base, system.references)
            candidates = [row for row, score in enumerate(scores) if score > TRANSLATED]
            perturbed = [[prefix, *sources[row]] for row, prefix in product(candidates, prefixes)]
            outputs = system.translate(perturbed, f"{system.name}: perturbed sources")
            names = [system.pieces[prefix] for prefix in prefixes]
            lost = []
            for (row, name), output in zip(product(candidates, names), outputs, strict=True):
                if adjusted_bleu(output, base[row]) < LOST:
                    lost.append(Hallucination(row, name, output))
            lost_by_subword = Counter(entry.subword for entry in lost)
            examples = {entry.sentence: entry for entry in reversed(lost)}
            hallucinated = np.zeros(len(sources))
            hallucinated[list(examples)] = 1
            results.append(
                Hallucinations(
                    system=system.name,
                    sentences=len(sources),
                    candidates=len(candidates),
                    subwords=tuple(names),
                    hallucinated=tuple(sorted(examples)),
                    pairs=len(lost),
                    share=mean(hallucinated),
                    by_subword=tuple(lost_by_subword[name] for name in names),
                    examples=tuple(examples[row] for row in sorted(examples)),
                    against_first=None if first is None else paired_difference(first, hallucinated),
                )
            )
            first = hallucinated if first is None else first
        return results

    def answer(self, results: Sequence[Hallucinations], systems: Sequence[System]) -> str:
        """Return how many sentences each system loses, and whether the difference is real."""
        if not any(result.candidates for result in results):
            return (
                f"Of {test_label(systems)}, no output has two neighbouring words of its reference "
                f"(adjusted BLEU above {TRANSLATED}): hallucinations are measured for models that "
                "translate, into languages written with spaces."
            )
        counts = ", ".join(f"{result.system} {len(result.hallucinated)}" for result in results)
        said = [
            f"Of {test_label(systems)}, one subword in front makes a hallucination of: {counts}"
        ]
        tested = [(of.system, of.against_first.p_sign) for of in results if of.against_first]
        corrected = holm([p_value for _, p_value in tested])
        for (system, _), p_value in zip(tested, corrected, strict=True):
            real = "to the first is real" if p_value < 0.05 else "may be chance"
            of_system, how = (f"{system}: ", ", corrected") if len(tested) > 1 else ("", "")
            said.append(f"{of_system}the difference {real} (sign test {p_text(p_value)}{how})")
        return f"{'; '.join(said)}."

    def sections(
        self, results: Sequence[Hallucinations], systems: Sequence[System]
    ) -> list[Section]:
        """Return the numbers of lost sentences, and examples."""
        examples = []
        for result, system in zip(results, systems, strict=True):
            for lost in result.examples[:SHOWN]:
                row = lost.sentence
                outputs = {"as it is": system.outputs()[row]}
                outputs[f"with {lost.subword} in front"] = lost.output
                examples.append(
                    Example(
                        f"{result.system}, {heading(system, row)}",
                        {"source": system.sources[row]},
                        {"reference": system.references[row]},
                        outputs,
                    )
                )
        text = f"The first {SHOWN} sentences of every system; the JSON has all."
        return [
            section("Sentences that are lost", _table(results)),
            section("Examples", text, *examples),
        ]


def _table(results: Sequence[Hallucinations]) -> Table:
    rows = []
    for result in results:
        test, lost = result.against_first, len(result.hallucinated)
        value, low, high = result.share.value, result.share.low, result.share.high
        row = {
            "system": result.system,
            "translated": cell(result.candidates, ","),
            "lost": cell(lost, ","),
            "share of all [95 %]": Cell(interval(value, low, high, share), value),
            "of translated": cell(lost / max(1, result.candidates), share),
            "pairs": cell(result.pairs, ","),
            "lost here only / there only": f"{test.more:,} / {test.fewer:,}" if test else MISSING,
            "p": cell(test.p_sign if test else None, probability),
        }
        rows.append(row)
    notes = (
        f"A sentence is translated where adjusted BLEU of its output is above {TRANSLATED}, and "
        f"lost where one of the {len(results[0].subwords)} most frequent subwords of the training "
        "source, put before it, makes adjusted BLEU against the output for the source as it is "
        f"fall below {LOST}; pairs: sentences with subwords that do it.",
        "Adjusted BLEU of a short sentence is 0 where no two neighbouring words are kept: what is "
        "lost may still be about the source. Read the examples.",
        "A system that translates fewer sentences has fewer to lose: compare the shares of those "
        "translated too. p: sign test, not corrected.",
    )
    return records(rows, title="Hallucinations under perturbation", notes=notes)


ANALYSIS = HallucinationAnalysis
