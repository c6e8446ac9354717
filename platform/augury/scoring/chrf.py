"""chrF and chrF++ (Popović, 2015, 2017) from sentence statistics, as in sacreBLEU.

Character order is 6, beta 2.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

from augury.scoring.metric import CountedMetric
from augury.scoring.ngrams import matches, pairwise_matches

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHARACTERS = 6
BETA = 2


class Chrf(CountedMetric):
    """chrF, which does not depend on the language; option `lower` ignores case."""

    title = "chrF"
    options = ("lower",)
    bounds = (0.0, 100.0)
    words: ClassVar[int] = 0
    """Highest order of word n-grams."""

    def __init__(self, name: str, language: str):
        from sacrebleu.metrics.chrf import CHRF

        super().__init__(name, language)
        library = CHRF(word_order=self.words, lowercase=self.option == "lower", references=[[""]])
        self.signature = str(library.get_signature())

    def prepare(self, line: str) -> str:
        return line.lower() if self.option == "lower" else line

    def count(self, hypothesis: str, reference: str) -> list[int]:
        return statistics(hypothesis, reference, self.words)

    @classmethod
    def value(cls, sums: Sequence[float]) -> float:
        return value(sums)


class ChrfPlusPlus(Chrf):
    """chrF++: chrF with word unigrams and bigrams."""

    title = "chrF++"
    words = 2


METRICS = {"chrf": Chrf, "chrf++": ChrfPlusPlus}


def similarity(hypothesis: str, reference: str) -> float:
    """Return the chrF of a single sentence, from 0 to 100."""
    return value(statistics(hypothesis, reference))


def statistics(hypothesis: str, reference: str, words: int = 0) -> list[int]:
    """Return n-gram counts of a sentence by order: hypothesis, reference, matches.

    Orders are those of characters without spaces, up to 6, followed by those of words, up to
    `words` (chrF++: 2).
    """
    levels = [matches("".join(hypothesis.split()), "".join(reference.split()), CHARACTERS)]
    if words:
        levels.append(matches(split(hypothesis), split(reference), words))
    in_hypothesis, in_reference, matched = (
        list(chain.from_iterable(counts)) for counts in zip(*levels, strict=True)
    )
    # Orders for which the reference is too short do not count.
    in_hypothesis = [h if r else 0 for h, r in zip(in_hypothesis, in_reference, strict=True)]
    return [*in_hypothesis, *in_reference, *matched]


def pairwise_statistics(sentences: Sequence[str]) -> NDArray[Any]:
    """Return the character `statistics` of all pairs of hypothesis (row) and reference (column)."""
    import numpy as np

    totals, matched = pairwise_matches(
        ["".join(sentence.split()) for sentence in sentences], CHARACTERS
    )
    references = np.broadcast_to(totals[None], matched.shape)
    hypotheses = np.where(references > 0, totals[:, None], 0)
    return np.concatenate([hypotheses, references, matched], axis=2)


def value(sums: Sequence[float]) -> float:
    """Return chrF2 or chrF2++, 0 to 100, from summed `statistics`.

    Orders that both sides have are averaged.
    """
    count = len(sums) // 3
    precision = recall = 0.0
    orders = 0
    for h, r, both in zip(sums[:count], sums[count : 2 * count], sums[2 * count :], strict=True):
        if h and r:
            precision += both / h
            recall += both / r
            orders += 1
    if not precision:
        return 0.0
    precision, recall = precision / orders, recall / orders
    return 100 * ((1 + BETA**2) * precision * recall / (BETA**2 * precision + recall))


def split(line: str) -> tuple[str, ...]:
    """Split a line into words, and one ASCII punctuation mark off the end or start of each."""
    return tuple(chain.from_iterable(map(_split_mark, line.split())))


def _split_mark(word: str) -> tuple[str, ...]:
    if len(word) > 1 and word[-1] in string.punctuation:
        return word[:-1], word[-1]
    if len(word) > 1 and word[0] in string.punctuation:
        return word[0], word[1:]
    return (word,)
