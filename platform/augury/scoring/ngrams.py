"""Clipped n-gram matches, the quantity that BLEU and chrF share."""

from __future__ import annotations

from collections import Counter

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


def _ngrams(sequence: Sequence, n: int) -> Counter[Sequence]:
    return Counter([sequence[start : start + n] for start in range(len(sequence) - n + 1)])


def _clipped(hypothesis: Counter[Sequence], reference: Counter[Sequence]) -> int:
    return sum(min(hypothesis[ngram], reference[ngram]) for ngram in hypothesis.keys() & reference.keys())
