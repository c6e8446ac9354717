"""Minimum Bayes risk: the hypothesis that agrees most with all others (Kumar and Byrne, 2004).

The expected utility of a hypothesis is its mean chrF against all hypotheses of its sentence as
references, itself included, each as often as it was found: views with the same hypothesis vote for
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import fsum

import numpy as np

ORDER = 6
"""The longest n-grams of characters that chrF counts."""


def choose(sentences: Sequence[Sequence[str]]) -> list[str]:
    """Return for each sentence one of its hypotheses, of which there is at least one.

    Of hypotheses with equal expected utility the first is taken.
    """
    chosen = []
    for hypotheses in sentences:
        utilities = expected_utilities(hypotheses)
        chosen.append(max(utilities, key=lambda text: utilities[text]))
    return chosen


def expected_utilities(hypotheses: Sequence[str]) -> dict[str, float]:
    """Return the expected utility of every distinct hypothesis, in order of first occurrence."""
    times = Counter(hypotheses)
    if len(times) == 1:
        return dict.fromkeys(times, 100.0)
    utilities = {}
    for text, row in zip(times, pairwise_chrf([*times]), strict=True):
        # Summed exactly, so that the order of hypotheses decides nothing but ties.
        total = fsum(count * value for count, value in zip(times.values(), row, strict=True))
        utilities[text] = total / len(hypotheses)
    return utilities


def pairwise_chrf(texts: Sequence[str]) -> list[list[float]]:
    """Return the chrF of all pairs of a hypothesis (row) and a reference (column), as sacreBLEU's
    sentence scores are."""
    from sacrebleu.metrics.chrf import CHRF

    library = CHRF()
    sequences = ["".join(text.split()) for text in texts]
    lengths = np.array([len(sequence) for sequence in sequences])
    totals = np.maximum(0, lengths[:, None] - np.arange(ORDER))
    matched = np.zeros((len(texts), len(texts), ORDER), np.int64)
    for n in range(1, ORDER + 1):
        counters = [
            Counter(sequence[start : start + n] for start in range(len(sequence) - n + 1))
            for sequence in sequences
        ]
        columns: dict[str, int] = {}
        for counter in counters:
            for ngram in counter:
                columns.setdefault(ngram, len(columns))
        counts = np.zeros((len(sequences), len(columns)), np.int16)
        for row, counter in enumerate(counters):
            counts[row, [columns[ngram] for ngram in counter]] = list(counter.values())
        for row in range(len(sequences)):
            matched[row, :, n - 1] = np.minimum(counts, counts[row]).sum(1)
    hypotheses, references = np.broadcast_arrays(totals[:, None], totals[None])
    # Orders for which the reference is too short do not count.
    both = np.stack([np.where(references > 0, hypotheses, 0), references, matched], axis=3)
    statistics = both.reshape(len(texts), len(texts), -1)
    return [
        [library._compute_score_from_stats(pair).score for pair in row]
        for row in statistics.tolist()
    ]
