"""Minimum Bayes risk: of several hypotheses, the one that agrees most with all of them (Kumar and Byrne, 2004).

The expected utility of a hypothesis is its mean utility against all hypotheses of its sentence as references, itself
included and each as often as it was found: views that agree on a hypothesis vote for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import fsum

from augury.decoding.settings import Utility
from augury.scoring import bleu, chrf
from augury.scoring.metric import CountedMetric
from augury.scoring.metrics import metric

VALUES: dict[Utility, Callable[[Sequence[float]], float]] = {"chrf": chrf.value, "bleu": bleu.sentence_value}
"""What the counts of one sentence are worth."""


def choose(sentences: Sequence[Sequence[str]], utility: Utility, language: str) -> list[str]:
    """Return for each sentence one of its hypotheses, of which there is at least one.

    Of hypotheses with equal expected utility the first is taken. `language` is theirs.
    """
    measure, value = metric(utility, language), VALUES[utility]
    assert isinstance(measure, CountedMetric)
    return [_chosen(hypotheses, measure, value) for hypotheses in sentences]


def expected_utilities(
    hypotheses: Sequence[str], measure: CountedMetric, value: Callable[[Sequence[float]], float]
) -> dict[str, float]:
    """Return the expected utility of every distinct hypothesis, in order of first occurrence."""
    times = Counter(hypotheses)
    prepared = {text: measure.prepare(text) for text in times}
    # Summed exactly, so that the order of hypotheses decides nothing but ties.
    return {
        text: fsum(count * value(measure.count(prepared[text], prepared[other])) for other, count in times.items())
        / len(hypotheses)
        for text in times
    }


def _chosen(hypotheses: Sequence[str], measure: CountedMetric, value: Callable[[Sequence[float]], float]) -> str:
    if len(set(hypotheses)) == 1:
        return hypotheses[0]
    utilities = expected_utilities(hypotheses, measure, value)
    return max(utilities, key=lambda text: utilities[text])
