"""Word error rate, and the rate of words that are recognised, of transcripts (as `asr-evaluation` counts them)."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from augury.scoring.metric import VERSION, CountedMetric


class Alignment(NamedTuple):
    """Counts of the alignment of a transcript with its reference; those of several transcripts add up."""

    errors: int
    """Substitutions, deletions and insertions: the edit distance."""
    matches: int
    words: int
    """Of the reference."""


class _WordMetric(CountedMetric):
    """Words between white space; the options leave out case, or characters that are punctuation."""

    unit = "%"
    options = ("lower", "strip_punct", "lower+strip_punct")

    def __init__(self, name: str, language: str):
        super().__init__(name, language)
        case = "lc" if "lower" in self.option else "mixed"
        punctuation = "no" if "strip_punct" in self.option else "yes"
        self.signature = f"case:{case}|punct:{punctuation}|ties:sub,ins,del|version:{VERSION}"

    def prepare(self, line: str) -> tuple[str, ...]:
        if "lower" in self.option:
            line = line.lower()
        if "strip_punct" in self.option:
            line = "".join(character for character in line if unicodedata.category(character)[0] != "P")
        return tuple(line.split())

    def count(self, hypothesis: tuple[str, ...], reference: tuple[str, ...]) -> list[int]:
        return list(aligned(reference, hypothesis))


class WordErrorRate(_WordMetric):
    """Errors per 100 words of the reference."""

    title = "WER"
    lower_is_better = True
    bounds = (0.0, math.inf)

    @classmethod
    def value(cls, sums: Sequence[float]) -> float:
        return word_error_rate(Alignment(*map(int, sums)))


class WordRecognitionRate(_WordMetric):
    """Words that are recognised, per 100 of the reference."""

    title = "WRR"
    bounds = (0.0, 100.0)

    @classmethod
    def value(cls, sums: Sequence[float]) -> float:
        return word_recognition_rate(Alignment(*map(int, sums)))


METRICS = {"wer": WordErrorRate, "wrr": WordRecognitionRate}


def aligned(reference: Sequence[str], hypothesis: Sequence[str]) -> Alignment:
    """Return the counts of the alignment with fewest errors.

    Of alignments with equally many it is the one that, from its end, has a substitution or match where it can, and
    otherwise rather an insertion than a deletion; others have more matches. `jiwer` and `rapidfuzz`, whose errors are
    the same, break ties otherwise.
    """
    errors, matches = list(range(len(hypothesis) + 1)), [0] * (len(hypothesis) + 1)
    for row, word in enumerate(reference, start=1):
        diagonal, diagonal_matches = errors[0], matches[0]
        left, left_matches = row, 0
        errors[0] = row
        for column, other in enumerate(hypothesis, start=1):
            above, above_matches = errors[column], matches[column]
            if word == other:
                least, matched = diagonal, diagonal_matches + 1  # never more errors than an insertion or a deletion
            else:
                least, matched = diagonal + 1, diagonal_matches
                if left + 1 < least:
                    least, matched = left + 1, left_matches
                if above + 1 < least:
                    least, matched = above + 1, above_matches
            errors[column], matches[column] = left, left_matches = least, matched
            diagonal, diagonal_matches = above, above_matches
    return Alignment(errors[-1], matches[-1], len(reference))


def word_error_rate(counts: Alignment) -> float:
    """Return errors per 100 words of the reference; of empty references 100 where there are errors, and otherwise 0."""
    return 100 * counts.errors / counts.words if counts.words else 100.0 * bool(counts.errors)


def word_recognition_rate(counts: Alignment) -> float:
    """Return matches per 100 words of the reference; of empty references 100."""
    return 100 * counts.matches / counts.words if counts.words else 100.0
