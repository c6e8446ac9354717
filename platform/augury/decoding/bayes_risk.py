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

import numpy.typing as npt

from augury.decoding.settings import Utility
from augury.scoring import bleu, chrf
from augury.scoring.metric import CountedMetric
from augury.scoring.registry import metric

Counts = Callable[[Sequence[Any]], npt.NDArray[Any]]
Value = Callable[[Sequence[float]], float]
UTILITIES: dict[str, tuple[Counts, Value]] = {
    "chrf": (chrf.pairwise_statistics, chrf.value),
    "bleu": (bleu.pairwise_statistics, bleu.sentence_value),
}
"""By the name of the metric: what is counted in all pairs of hypotheses, and what the counts of
a pair are worth."""


def choose(sentences: Sequence[Sequence[str]], utility: Utility, language: str) -> list[str]:
    """Return for each sentence one of its hypotheses, of which there is at least one.

    Of hypotheses with equal expected utility the first is taken. `language` is theirs.
    """
    measure = metric(utility, language)
    assert isinstance(measure, CountedMetric)
    chosen = []
    for hypotheses in sentences:
        utilities = expected_utilities(hypotheses, measure)
        chosen.append(max(utilities, key=lambda text: utilities[text]))
    return chosen


def expected_utilities(hypotheses: Sequence[str], measure: CountedMetric) -> dict[str, float]:
    """Return the expected utility of every distinct hypothesis, in order of first occurrence."""
    times = Counter(hypotheses)
    if len(times) == 1:
        return dict.fromkeys(times, 100.0)
    counted, value = UTILITIES[measure.name]
    counts = counted([measure.prepare(text) for text in times]).tolist()
    utilities = {}
    for text, row in zip(times, counts, strict=True):
        # Summed exactly, so that the order of hypotheses decides nothing but ties.
        total = fsum(count * value(pair) for count, pair in zip(times.values(), row, strict=True))
        utilities[text] = total / len(hypotheses)
    return utilities
