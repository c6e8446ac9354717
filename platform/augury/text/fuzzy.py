"""Sentences that are similar to a sentence by the edit distance of their tokens: exactly all, with few compared.

What `fuzzy_filter` leaves is compared by `rapidfuzz`, tokens as code points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from augury.core.errors import UserError
from augury.text.fuzzy_filter import Pairs, by_length, candidates

Norm = Literal["min", "max"]
Numbers = NDArray[np.int64]

MOST_TOKENS = 0x10FFFF  # code points, less the one of tokens that no sentence of the index has


class Limit(NamedTuple):
    """From which similarity on, `1 - D / L` of sentences that are D edits apart, they are similar.

    With norm min, L is the length of the shorter one and the similarity more than the threshold (Li and Specia 2019, as
    released); with norm max, L is that of the longer one, and the threshold suffices (Bulte and Tezcan 2019).
    """

    threshold: float
    norm: Norm

    def edits(self, one: int, other: int) -> int:
        """Return the most edits between similar sentences of these lengths, the threshold taken as it is written."""
        apart = _apart(self.threshold)
        if self.norm == "min":
            return math.ceil(min(one, other) * apart) - 1
        return math.floor(max(one, other) * apart)


class FuzzyIndex:
    """Sentences, as tokens, among which similar ones are looked up; UserError where they have too many tokens."""

    def __init__(self, sentences: Sequence[Sequence[str]]):
        self._vocabulary: dict[str, int] = {}
        numbers = [
            [self._vocabulary.setdefault(token, len(self._vocabulary)) for token in tokens] for tokens in sentences
        ]
        if len(self._vocabulary) > MOST_TOKENS:
            raise UserError(
                f"{len(self._vocabulary):,} different tokens are more than the {MOST_TOKENS:,} that can be compared: "
                "take fewer sentences, or tokens that punctuation is split from"
            )
        self._codes = _codes(numbers)
        self._lists, self._sets = by_length(numbers), by_length(_sets(numbers))

    def similar(self, queries: Sequence[Sequence[str]], limit: Limit) -> Pairs:
        """Return all pairs of a query and a sentence that are similar and not equal, in this order."""
        numbers = self._numbers(queries)
        codes, similar = _codes(numbers), [_none()]
        for query in by_length(numbers):
            for group in self._lists:
                edits = limit.edits(query.length, group.length)
                if edits >= max(1, abs(query.length - group.length)):
                    for local in candidates(query, group, edits):
                        pairs = Pairs(query.rows[local.queries], group.rows[local.sentences])
                        distances = _distances(codes, self._codes, pairs, edits)
                        similar.append(pairs.where((distances > 0) & (distances <= edits)))
        return _joined(similar)

    def within(self, queries: Sequence[Sequence[str]], limit: Limit, pairs: Pairs) -> Pairs:
        """Return those of some pairs that are similar and not equal."""
        numbers = self._numbers(queries)
        distances = _distances(_codes(numbers), self._codes, pairs)
        lengths = zip((len(numbers[row]) for row in pairs.queries), map(len, self._codes[pairs.sentences]), strict=True)
        most = np.array([limit.edits(*both) for both in lengths], np.int64)
        return pairs.where((distances > 0) & (distances <= most))

    def contained(self, queries: Sequence[Sequence[str]], share: float) -> tuple[Pairs, NDArray[np.float64]]:
        """Return all pairs whose sets of tokens, A and B, have `|A ∩ B| / max(|A|, |B|)` of at least `share`, with it.

        They are in the order of queries and, for a query, of sentences.
        """
        limit, chosen, shares = Limit(share, "max"), [_none()], [np.zeros(0)]
        for query in by_length(_sets(self._numbers(queries))):
            for group in self._sets:
                longer, edits = max(query.length, group.length), limit.edits(query.length, group.length)
                if edits >= abs(query.length - group.length):
                    for local in candidates(query, group, edits, anywhere=True):
                        common = _common(query.tokens[local.queries], group.tokens[local.sentences])
                        local, common = local.where(common >= longer - edits), common[common >= longer - edits]
                        chosen.append(Pairs(query.rows[local.queries], group.rows[local.sentences]))
                        shares.append(common / longer)
        pairs = Pairs(*map(np.concatenate, zip(*chosen, strict=True)))
        order = np.lexsort(pairs[::-1])
        return pairs.where(order), np.concatenate(shares)[order]

    def _numbers(self, queries: Sequence[Sequence[str]]) -> list[list[int]]:
        """Return tokens as numbers, those below 0 that no sentence has."""
        unknown: dict[str, int] = {}
        return [
            [
                self._vocabulary[token] if token in self._vocabulary else unknown.setdefault(token, ~len(unknown))
                for token in tokens
            ]
            for tokens in queries
        ]


@cache
def _apart(threshold: float) -> Fraction:
    return 1 - Fraction(str(threshold))


def _distances(queries: NDArray[Any], sentences: NDArray[Any], pairs: Pairs, most: int | None = None) -> Numbers:
    """Return the edits between pairs of encoded sentences; more than `most` are `most + 1`."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    if not len(pairs.queries):
        return np.zeros(0, np.int64)
    compared = cpdist(
        queries[pairs.queries],
        sentences[pairs.sentences],
        scorer=Levenshtein.distance,
        score_cutoff=most,
        dtype=np.int64,
    )
    return np.asarray(compared)


def _common(one: Numbers, other: Numbers) -> Numbers:
    """Return how many numbers two sorted rows without repetitions have in common, (rows,)."""
    both = np.sort(np.concatenate([one, other], axis=1), axis=1)
    return np.asarray((both[:, 1:] == both[:, :-1]).sum(1))


def _codes(numbers: Sequence[Sequence[int]]) -> NDArray[Any]:
    """Return sentences as strings, a character for every token, for all unknown ones the same."""
    codes = np.empty(len(numbers), object)
    codes[:] = ["".join([chr(max(token, -1) + 1) for token in tokens]) for tokens in numbers]
    return codes


def _sets(numbers: Sequence[Sequence[int]]) -> list[list[int]]:
    return [sorted(set(tokens)) for tokens in numbers]


def _none() -> Pairs:
    return Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64))


def _joined(parts: Sequence[Pairs]) -> Pairs:
    """Return all pairs in the order of queries and then of sentences."""
    pairs = Pairs(*map(np.concatenate, zip(*parts, strict=True)))
    return pairs.where(np.lexsort(pairs[::-1]))
