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
from typing import Literal

import numpy as np

from augury.analysis.paired import Mean, PairedDifference, mean, paired_difference
from augury.analysis.system import System
from augury.core.words import clusters, is_unspaced
from augury.scoring.sacre import bleu_counts

MAX_SUBWORDS = 50
TRANSLATED, LOST = 0.09, 0.01
"""A sentence counts as translated above the first adjusted BLEU, and as lost below the second."""
WEIGHTS = (1.0, 0.8)

CompareTo = Literal["base", "reference"]


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


def hallucinations(
    systems: Sequence[System],
    *,
    subwords: int = MAX_SUBWORDS,
    compare_to: CompareTo = "base",
    normalise_weights: bool = False,
) -> list[Hallucinations]:
    """Return the hallucinations of every system on its test sentences.

    Translates up to `subwords` x sentences.

    Translations of perturbed sources are compared with that of the original source, or with the
    reference; the public re-implementations of the paper's algorithm disagree on that.
    """
    results: list[Hallucinations] = []
    first: np.ndarray | None = None
    for system in systems:
        prefixes = frequent_subwords(system, subwords)
        base, sources = system.outputs(), system.ids()
        scores = [
            adjusted_bleu(output, reference, normalise_weights)
            for output, reference in zip(base, system.references, strict=True)
        ]
        candidates = [row for row, score in enumerate(scores) if score > TRANSLATED]
        perturbed = [[prefix, *sources[row]] for row, prefix in product(candidates, prefixes)]
        outputs = system.translate(perturbed, f"{system.name}: perturbed sources")
        compared = {"base": base, "reference": system.references}[compare_to]
        names = [system.pieces[prefix] for prefix in prefixes]
        lost = []
        for (row, name), output in zip(product(candidates, names), outputs, strict=True):
            if adjusted_bleu(output, compared[row], normalise_weights) < LOST:
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


def adjusted_bleu(hypothesis: str, reference: str, normalise_weights: bool = False) -> float:
    """Return BP * exp(1.0 ln p1 + 0.8 ln p2) of words between spaces, or of characters in scripts
    without, 0 to 1 (Lee et al., 2018); 0 if a p is 0.

    With `normalise_weights` the exponent is divided by the sum of the weights.
    """
    words, expected = tuple(hypothesis.split()), tuple(reference.split())
    if is_unspaced([reference]):
        words, expected = tuple(clusters("".join(words))), tuple(clusters("".join(expected)))
    counts, orders = bleu_counts(words, expected), len(WEIGHTS)
    matched, possible = counts[2 : 2 + orders], counts[6 : 6 + orders]
    if not all(matched):
        return 0.0
    exponent = sum(w * math.log(m / n) for w, m, n in zip(WEIGHTS, matched, possible, strict=True))
    brevity = min(0.0, 1 - len(expected) / len(words))
    return math.exp(brevity + exponent / (sum(WEIGHTS) if normalise_weights else 1.0))


def frequent_subwords(system: System, most: int) -> list[int]:
    """Return the ids of the most frequent pieces of the training source, no special ones.

    Ties: lower ids first.
    """
    counts = system.counts().copy()
    counts[list(system.special)] = 0
    order = np.argsort(-counts, kind="stable")[:most]
    return [int(piece) for piece in order if counts[piece]]
