"""chrF (Popović, 2015) from per-sentence statistics, as in sacreBLEU: characters up to order 6, beta 2."""

from __future__ import annotations

from collections.abc import Sequence

from augury.scoring.ngrams import matches

ORDER = 6
BETA = 2


def statistics(hypothesis: str, reference: str) -> list[int]:
    """The 18 counts of a sentence, its spaces removed: hypothesis n-grams, reference n-grams, matches."""
    in_hypothesis, in_reference, matched = matches(hypothesis, reference, ORDER)
    # An order that the reference is too short for says nothing about the hypothesis.
    in_hypothesis = [h if r else 0 for h, r in zip(in_hypothesis, in_reference, strict=True)]
    return [*in_hypothesis, *in_reference, *matched]


def value(sums: Sequence[float]) -> float:
    """chrF2, 0 to 100, of a corpus whose `statistics` sum to `sums`; orders absent on a side are left out."""
    precision = recall = 0.0
    orders = 0
    for h, r, both in zip(sums[:ORDER], sums[ORDER : 2 * ORDER], sums[2 * ORDER :], strict=True):
        if h and r:
            precision += both / h
            recall += both / r
            orders += 1
    if not precision:
        return 0.0
    precision, recall = precision / orders, recall / orders
    return 100 * ((1 + BETA**2) * precision * recall / (BETA**2 * precision + recall))
