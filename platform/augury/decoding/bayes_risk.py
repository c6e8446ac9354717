"""Minimum Bayes risk: the hypothesis that agrees most with all others (Kumar and Byrne, 2004).

The expected utility of a hypothesis is its mean utility against all hypotheses of its sentence as
references, itself included, each as often as it was found: views with the same hypothesis vote for
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import fsum
from typing import Any

import numpy as np
import numpy.typing as npt

from augury.decoding.settings import Utility
from augury.scoring.registry import metric
from augury.scoring.sacre import Bleu, Chrf

CHARACTERS, WORDS = 6, 4
"""The orders of n-grams of chrF and of BLEU."""
Tokens = tuple[str, ...] | str
"""Words, or the characters of a string."""


def choose(sentences: Sequence[Sequence[str]], utility: Utility, language: str) -> list[str]:
    """Return for each sentence one of its hypotheses, of which there is at least one.

    Of hypotheses with equal expected utility the first is taken. `language` is theirs.
    """
    measure = metric(utility, language)
    assert isinstance(measure, Bleu | Chrf)
    chosen = []
    for hypotheses in sentences:
        utilities = expected_utilities(hypotheses, utility, measure.prepare)
        chosen.append(max(utilities, key=lambda text: utilities[text]))
    return chosen


def expected_utilities(
    hypotheses: Sequence[str], utility: Utility, prepare: Callable[[str], str]
) -> dict[str, float]:
    """Return the expected utility of every distinct hypothesis, in order of first occurrence;
    `prepare` is that of the metric."""
    times = Counter(hypotheses)
    if len(times) == 1:
        return dict.fromkeys(times, 100.0)
    values = pairwise_values([prepare(text) for text in times], utility)
    utilities = {}
    for text, row in zip(times, values, strict=True):
        # Summed exactly, so that the order of hypotheses decides nothing but ties.
        total = fsum(count * value for count, value in zip(times.values(), row, strict=True))
        utilities[text] = total / len(hypotheses)
    return utilities


def pairwise_values(texts: Sequence[str], utility: Utility) -> list[list[float]]:
    """Return the scores of all pairs of a hypothesis (row) and a reference (column), as sacreBLEU's
    sentence scores are: BLEU with its effective order."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    if utility == "bleu":
        library: Any = BLEU(effective_order=True)
        totals, matched = pairwise_matches([tuple(text.split()) for text in texts], WORDS)
        hypotheses = np.broadcast_to(totals[:, None], matched.shape)
        lengths = np.stack(np.broadcast_arrays(totals[:, None, 0], totals[None, :, 0]), axis=2)
        counts = np.concatenate([lengths, matched, hypotheses], axis=2)
    else:
        library = CHRF()
        totals, matched = pairwise_matches(["".join(text.split()) for text in texts], CHARACTERS)
        hypotheses, references = np.broadcast_arrays(totals[:, None], totals[None])
        # Orders for which the reference is too short do not count.
        both = np.stack([np.where(references > 0, hypotheses, 0), references, matched], axis=3)
        counts = both.reshape(*matched.shape[:2], -1)
    return [
        [library._compute_score_from_stats(pair).score for pair in row] for row in counts.tolist()
    ]


def pairwise_matches(
    sequences: Sequence[Tokens], order: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Count the n-grams of each sequence, (sequences, order), and the clipped matches of all pairs.

    The latter, (sequences, sequences, order), are symmetric in the pair.
    """
    lengths = np.array([len(sequence) for sequence in sequences])
    totals = np.maximum(0, lengths[:, None] - np.arange(order))
    matched = np.zeros((len(sequences), len(sequences), order), np.int64)
    for n in range(1, order + 1):
        counters = [
            Counter(sequence[start : start + n] for start in range(len(sequence) - n + 1))
            for sequence in sequences
        ]
        columns: dict[Tokens, int] = {}
        for counter in counters:
            for ngram in counter:
                columns.setdefault(ngram, len(columns))
        counts = np.zeros((len(sequences), len(columns)), np.int16)
        for row, counter in enumerate(counters):
            counts[row, [columns[ngram] for ngram in counter]] = list(counter.values())
        for row in range(len(sequences)):
            matched[row, :, n - 1] = np.minimum(counts, counts[row]).sum(1)
    return totals, matched
