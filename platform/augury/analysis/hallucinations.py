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
from itertools import product

import numpy as np
import pandas as pd
from pydantic import Field

from augury.analysis.analysis import Analysis, example, result_table, test_label
from augury.analysis.paired import estimate, means, signs
from augury.analysis.system import System
from augury.core.words import clusters, is_unspaced
from augury.reporting.numbers import p_text
from augury.reporting.report import PageSection, section
from augury.reporting.tables import Columns, plain_records
from augury.scoring.sacre import bleu_counts
from augury.scoring.significance import holm
from augury.text.pieces.settings import SPACE, SPECIALS

MAX_SUBWORDS = 50
TRANSLATED, LOST = 0.09, 0.01
"""A sentence counts as translated above the first adjusted BLEU, and as lost below the second."""
WEIGHTS = (1.0, 0.8)
EXAMPLES = 5
"""The number of examples of every system on the page; the JSON has all."""


COLUMNS: Columns = {
    "translated": ("candidates", "count"),
    "lost": ("lost", "count"),
    "share of all [95 %]": ("value", "share"),
    "of translated": ("of_translated", "share"),
    "pairs": ("pairs", "count"),
    "lost here only": ("more", "count"),
    "lost there only": ("fewer", "count"),
    "p": ("p_sign", "p"),
}


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
    counts = system.counts()
    for piece, text in enumerate(system.pieces):
        if text.removeprefix(SPACE) in SPECIALS:
            counts[piece] = 0
    order = np.argsort(-counts, kind="stable")[:most]
    return [int(piece) for piece in order if counts[piece]]


class HallucinationAnalysis(Analysis):
    """Sentences that are lost when a frequent subword is put before them."""

    TITLE = "Hallucinations under perturbation"

    analysis: str = "hallucinations"
    subwords: int = Field(MAX_SUBWORDS, ge=1)
    """Number of frequent subwords to insert before a source."""

    def compute(self, systems: Sequence[System]) -> pd.DataFrame:
        """Return the hallucinations of every system on its test sentences.

        Columns: the `subwords`, the most frequent pieces of the training source; the `candidates`,
        how many sentences are translated, by the score of their output against the reference; the
        `hallucinated` sentences, for which at least one subword causes a hallucination, their
        number, as `lost`, and its share of all, as `value`, and of the candidates; the number of
        hallucinations, as `pairs`, and of each subword; the first one of every sentence, as
        `examples`; the sentences that are lost here and not by the first system, and the reverse.

        Translates up to `subwords` x sentences. Translations of perturbed sources are compared with
        that of the original source: the public re-implementations of the paper's algorithm disagree
        on whether it is that or the reference.
        """
        rows, first = [], np.zeros(0)
        for system in systems:
            prefixes = frequent_subwords(system, self.subwords)
            base, sources = system.outputs(), system.ids()
            scores = map(adjusted_bleu, base, system.references)
            candidates = [place for place, score in enumerate(scores) if score > TRANSLATED]
            perturbed = [[prefix, *sources[place]] for place in candidates for prefix in prefixes]
            outputs = system.translate(perturbed, f"{system.name}: perturbed sources")
            subwords = [system.pieces[prefix] for prefix in prefixes]
            by_subword, examples = Counter[str](), dict[int, dict[str, object]]()
            pairs = product(candidates, subwords)
            for (place, subword), output in zip(pairs, outputs, strict=True):
                if adjusted_bleu(output, base[place]) < LOST:
                    by_subword[subword] += 1
                    found = {"sentence": place, "subword": subword, "output": output}
                    examples.setdefault(place, found)
            hallucinated = np.zeros(len(sources))
            hallucinated[list(examples)] = 1
            first = hallucinated if system is systems[0] else first
            row = {
                "system": system.name,
                "sentences": len(sources),
                "candidates": len(candidates),
                "lost": len(examples),
                **estimate(means(hallucinated)),
                "of_translated": len(examples) / max(1, len(candidates)),
                "pairs": by_subword.total(),
                "hallucinated": sorted(examples),
                "subwords": subwords,
                "by_subword": [by_subword[name] for name in subwords],
                "examples": [examples[place] for place in sorted(examples)],
            }
            rows.append(row | ({} if system is systems[0] else signs(first, hallucinated)))
        return pd.DataFrame(rows)

    def answer(self, results: pd.DataFrame, systems: Sequence[System]) -> str:
        """Return how many sentences each system loses, and whether the difference is real."""
        if not results["candidates"].any():
            return (
                f"Of {test_label(systems)}, no output has two neighbouring words of its reference "
                f"(adjusted BLEU above {TRANSLATED}): hallucinations are measured for models that "
                "translate, into languages written with spaces."
            )
        first, *others = plain_records(results)
        counts = ", ".join(f"{row['system']} {row['lost']}" for row in (first, *others))
        said = [
            f"Of {test_label(systems)}, one subword in front makes a hallucination of: {counts}"
        ]
        corrected = holm([row["p_sign"] for row in others])
        for row, p_value in zip(others, corrected, strict=True):
            real = "to the first is real" if p_value < 0.05 else "may be chance"
            system, how = (f"{row['system']}: ", ", corrected") if len(others) > 1 else ("", "")
            said.append(f"{system}the difference {real} (sign test {p_text(p_value)}{how})")
        return f"{'; '.join(said)}."

    def sections(self, results: pd.DataFrame, systems: Sequence[System]) -> list[PageSection]:
        """Return the numbers of lost sentences, and examples."""
        examples = []
        for found, system in zip(results["examples"], systems, strict=True):
            for lost in found[:EXAMPLES]:
                whole = system.outputs()[lost["sentence"]]
                outputs = {"as it is": whole, f"with {lost['subword']} in front": lost["output"]}
                examples.append(example(system, lost["sentence"], outputs))
        notes = (
            f"A sentence is translated where adjusted BLEU of its output is above {TRANSLATED}, "
            f"and lost where one of the {len(results['subwords'][0])} most frequent subwords of "
            "the training source, put before it, makes adjusted BLEU against the output for the "
            f"source as it is fall below {LOST}; pairs: sentences with subwords that do it; there: "
            "by the first system.",
            "Adjusted BLEU of a short sentence is 0 where no two neighbouring words are kept: what "
            "is lost may still be about the source. Read the examples.",
            "A system that translates fewer sentences has fewer to lose: compare the shares of "
            "those translated too. p: sign test, not corrected.",
        )
        text = f"The first {EXAMPLES} sentences of every system; the JSON has all."
        numbers = result_table(results, COLUMNS, title=self.TITLE, notes=notes)
        return [
            section("Sentences that are lost", numbers),
            section("Examples", text, *examples),
        ]


ANALYSIS = HallucinationAnalysis
