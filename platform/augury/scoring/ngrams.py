"""Clipped n-gram matches, for BLEU and chrF."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

Tokens = tuple[str, ...] | str
"""Words, or the characters of a string."""


def matches(
    hypothesis: Tokens, reference: Tokens, order: int
) -> tuple[list[int], list[int], list[int]]:
    """Count n-grams for n = 1 to `order`: of the hypothesis, of the reference, clipped matches."""
    orders = range(1, order + 1)
    return (
        [max(0, len(hypothesis) - n + 1) for n in orders],
        [max(0, len(reference) - n + 1) for n in orders],
        [_clipped(_ngrams(hypothesis, n), _ngrams(reference, n)) for n in orders],
    )


def multiple_matches(hypothesis: Tokens, references: Sequence[Tokens], order: int) -> list[int]:
    """Count the matches of n-grams for n = 1 to `order`, clipped by the reference with most of
    each."""
    counts = []
    for n in range(1, order + 1):
        most: Counter[Tokens] = Counter()
        for reference in references:
            most |= _ngrams(reference, n)
        counts.append(_clipped(_ngrams(hypothesis, n), most))
    return counts


def pairwise_matches(sequences: Sequence[Tokens], order: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Count the n-grams of each sequence, (sequences, order), and the clipped matches of all pairs.

    The latter, (sequences, sequences, order), are symmetric in the pair.
    """
    import numpy as np

    lengths = np.array([len(sequence) for sequence in sequences])
    totals = np.maximum(0, lengths[:, None] - np.arange(order))
    matched = np.zeros((len(sequences), len(sequences), order), np.int64)
    for n in range(1, order + 1):
        counters = [_ngrams(sequence, n) for sequence in sequences]
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


def _ngrams(sequence: Tokens, n: int) -> Counter[Tokens]:
    return Counter([sequence[start : start + n] for start in range(len(sequence) - n + 1)])


def _clipped(hypothesis: Counter[Tokens], reference: Counter[Tokens]) -> int:
    return sum(
        min(hypothesis[ngram], reference[ngram]) for ngram in hypothesis.keys() & reference.keys()
    )
