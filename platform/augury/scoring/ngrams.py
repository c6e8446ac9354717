"""Clipped n-gram matches, the quantity that BLEU and chrF share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence as Several
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

Sequence = tuple[str, ...] | str


def matches(hypothesis: Sequence, reference: Sequence, order: int) -> tuple[list[int], list[int], list[int]]:
    """Counts of `n`-grams for n = 1 .. `order`: in the hypothesis, in the reference, in both (clipped).

    A tuple gives n-grams of words, a string n-grams of characters.
    """
    orders = range(1, order + 1)
    return (
        [max(0, len(hypothesis) - n + 1) for n in orders],
        [max(0, len(reference) - n + 1) for n in orders],
        [_clipped(_ngrams(hypothesis, n), _ngrams(reference, n)) for n in orders],
    )


def pairwise_matches(sequences: Several[Sequence], order: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the n-grams of every sequence, (sequences, order), and those in both of any two, by `matches`.

    The second array, (sequences, sequences, order), is symmetric.
    """
    import numpy as np

    totals = np.array([[max(0, len(sequence) - n + 1) for n in range(1, order + 1)] for sequence in sequences])
    matched = np.zeros((len(sequences), len(sequences), order), np.int64)
    for n in range(1, order + 1):
        counters = [_ngrams(sequence, n) for sequence in sequences]
        columns = {ngram: column for column, ngram in enumerate(dict.fromkeys(ngram for c in counters for ngram in c))}
        counts = np.zeros((len(sequences), len(columns)), np.int16)
        for row, counter in enumerate(counters):
            counts[row, [columns[ngram] for ngram in counter]] = list(counter.values())
        for row in range(len(sequences)):
            matched[row, :, n - 1] = np.minimum(counts, counts[row]).sum(1)
    return totals, matched


def _ngrams(sequence: Sequence, n: int) -> Counter[Sequence]:
    return Counter([sequence[start : start + n] for start in range(len(sequence) - n + 1)])


def _clipped(hypothesis: Counter[Sequence], reference: Counter[Sequence]) -> int:
    return sum(min(hypothesis[ngram], reference[ngram]) for ngram in hypothesis.keys() & reference.keys())
