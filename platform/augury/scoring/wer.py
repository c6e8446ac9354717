"""Word error rate and word recognition rate of transcripts, as in `asr-evaluation`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from augury.core.words import clusters
from augury.corpora.languages import UNSPACED
from augury.scoring.metric import VERSION, CountedMetric


class Alignment(NamedTuple):
    """Counts of the alignment of a transcript with its reference, additive over transcripts."""

    errors: int
    """Substitutions, deletions and insertions: the edit distance."""
    matches: int
    words: int
    """Words of the reference."""


class WordErrorRate(CountedMetric):
    """Errors per 100 reference words separated by white space, or characters in languages without
    spaces."""

    title = "WER"
    lower_is_better = True
    bounds = (0.0, math.inf)

    def __init__(self, name: str, language: str):
        super().__init__(name, language)
        self.counts_words = language not in UNSPACED
        unit = "" if self.counts_words else "|unit:character"
        self.signature = f"case:mixed|punct:yes|ties:sub,ins,del{unit}|version:{VERSION}"

    def prepare(self, line: str) -> tuple[str, ...]:
        words = line.split()
        return tuple(words if self.counts_words else clusters("".join(words)))

    def count(self, hypothesis: tuple[str, ...], reference: tuple[str, ...]) -> list[int]:
        return list(align(reference, hypothesis))

    @classmethod
    def value(cls, sums: Sequence[float]) -> float:
        return word_error_rate(Alignment(*map(int, sums)))


METRICS = {"wer": WordErrorRate}


def align(reference: Sequence[str], hypothesis: Sequence[str]) -> Alignment:
    """Return the counts of the alignment with the fewest errors.

    Ties, which differ in the number of matches, are broken from the end: a match or substitution is
    preferred to an insertion, and that to a deletion. `jiwer` and `rapidfuzz` find the same errors
    but break ties differently.
    """
    errors, matches = list(range(len(hypothesis) + 1)), [0] * (len(hypothesis) + 1)
    for row, word in enumerate(reference, start=1):
        diagonal, diagonal_matches = errors[0], matches[0]
        left, left_matches = row, 0
        errors[0] = row
        for column, other in enumerate(hypothesis, start=1):
            above, above_matches = errors[column], matches[column]
            if word == other:
                # An insertion or deletion never has fewer errors.
                least = diagonal
                matched = diagonal_matches + 1
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
    """Return errors per 100 reference words.

    For empty references 100 if there are errors, and 0 otherwise.
    """
    return 100 * counts.errors / counts.words if counts.words else 100.0 * bool(counts.errors)


def word_recognition_rate(counts: Alignment) -> float:
    """Return matches per 100 reference words; 100 for empty references."""
    return 100 * counts.matches / counts.words if counts.words else 100.0
