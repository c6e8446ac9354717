"""Exact search for similar sentences by token edit distance.

`fuzzy_filter` selects candidates, and `rapidfuzz` compares them, with tokens encoded as code
points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from augury.core.errors import UserError
from augury.text.fuzzy.candidates import Group, Pairs, by_length, candidates

Norm = Literal["min", "max"]
Numbers: TypeAlias = "npt.NDArray[np.int64]"

MAX_TOKENS = 0x10FFFF  # number of code points, except the one for unknown tokens


class Limit(NamedTuple):
    """The threshold on the similarity `1 - D / L` of sentences at edit distance D.

    With norm min, L is the length of the shorter sentence, and the similarity must exceed the
    threshold (the released code of Li and Specia 2019); with norm max, L is that of the longer one,
    and the similarity must reach the threshold (Bulte and Tezcan 2019).
    """

    threshold: float
    norm: Norm

    def edits(self, first: int, second: int) -> int:
        """Return the maximum edit distance of similar sentences of these lengths, exact for
        decimal thresholds."""
        distance = _max_distance(self.threshold)
        if self.norm == "min":
            return math.ceil(min(first, second) * distance) - 1
        return math.floor(max(first, second) * distance)


class FuzzyIndex:
    """An index of tokenised sentences; raises UserError for too many distinct tokens."""

    def __init__(self, sentences: Sequence[Sequence[str]]):
        self._vocabulary: dict[str, int] = {}
        vocabulary, numbers = self._vocabulary, []
        for tokens in sentences:
            numbers.append([vocabulary.setdefault(token, len(vocabulary)) for token in tokens])
        if len(self._vocabulary) > MAX_TOKENS:
            raise UserError(
                f"{len(self._vocabulary):,} distinct tokens exceed the limit of {MAX_TOKENS:,}: "
                "use fewer sentences, or split punctuation from words"
            )
        self._numbered = numbers
        self._codes = _codes(numbers)
        self._lists = by_length(numbers)

    @cached_property
    def _sets(self) -> list[Group]:
        """The sentences as sets of tokens, which only `overlapping` needs."""
        return by_length(_sets(self._numbered))

    def similar(self, queries: Sequence[Sequence[str]], limit: Limit) -> Pairs:
        """Return all pairs of a query and a sentence that are similar but not equal, sorted."""
        numbers = self._numbers(queries)
        codes, similar = _codes(numbers), [_no_pairs()]
        for query in by_length(numbers):
            for group in self._lists:
                edits = limit.edits(query.length, group.length)
                # Lengths that differ by more need more edits, and without any, sentences are equal.
                if edits >= max(1, abs(query.length - group.length)):
                    for local in candidates(query, group, edits):
                        pairs = Pairs(query.rows[local.queries], group.rows[local.sentences])
                        distances = _distances(codes, self._codes, pairs, edits)
                        similar.append(pairs.where((distances > 0) & (distances <= edits)))
        pairs = Pairs(*map(np.concatenate, zip(*similar, strict=True)))
        return pairs.where(np.lexsort(pairs[::-1]))

    def filter_similar(self, queries: Sequence[Sequence[str]], limit: Limit, pairs: Pairs) -> Pairs:
        """Return those pairs that are similar but not equal."""
        numbers = self._numbers(queries)
        distances = _distances(_codes(numbers), self._codes, pairs)
        lengths = zip(
            (len(numbers[row]) for row in pairs.queries),
            map(len, self._codes[pairs.sentences]),
            strict=True,
        )
        limits = np.array([limit.edits(*both) for both in lengths], np.int64)
        return pairs.where((distances > 0) & (distances <= limits))

    def overlapping(
        self, queries: Sequence[Sequence[str]], share: float
    ) -> tuple[Pairs, npt.NDArray[np.float64]]:
        """Return the sorted pairs of token sets A and B with |A ∩ B| / max(|A|, |B|) at least
        `share`.

        The second result has these values.
        """
        # |A ∩ B| / longer ≥ share says that at most (1 - share) · longer tokens of the longer set
        # are not in the other: the bound that the limit with norm max puts on edits.
        limit, selected, shares = Limit(share, "max"), [_no_pairs()], [np.zeros(0)]
        for query in by_length(_sets(self._numbers(queries))):
            for group in self._sets:
                longer = max(query.length, group.length)
                edits = limit.edits(query.length, group.length)
                if edits >= abs(query.length - group.length):
                    for local in candidates(query, group, edits, anywhere=True):
                        common = _common(query.tokens[local.queries], group.tokens[local.sentences])
                        local = local.where(common >= longer - edits)
                        common = common[common >= longer - edits]
                        selected.append(
                            Pairs(query.rows[local.queries], group.rows[local.sentences])
                        )
                        shares.append(common / longer)
        pairs = Pairs(*map(np.concatenate, zip(*selected, strict=True)))
        order = np.lexsort(pairs[::-1])
        return pairs.where(order), np.concatenate(shares)[order]

    def _numbers(self, queries: Sequence[Sequence[str]]) -> list[list[int]]:
        """Return tokens as numbers, negative for those that are not in the index."""
        unknown: dict[str, int] = {}
        numbered: list[list[int]] = []
        for tokens in queries:
            numbered.append([])
            for token in tokens:
                number = self._vocabulary.get(token)
                # Negative, so that they equal no token of the index; different, so that a set of
                # them has the right size.
                numbered[-1].append(
                    unknown.setdefault(token, ~len(unknown)) if number is None else number
                )
        return numbered


@cache
def _max_distance(threshold: float) -> Fraction:
    return 1 - Fraction(str(threshold))


def _distances(
    queries: npt.NDArray[Any], sentences: npt.NDArray[Any], pairs: Pairs, limit: int | None = None
) -> Numbers:
    """Return the edit distances of pairs of encoded sentences; `limit + 1` if the distance
    exceeds `limit`."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    if not len(pairs.queries):
        return np.zeros(0, np.int64)
    compared = cpdist(
        queries[pairs.queries],
        sentences[pairs.sentences],
        scorer=Levenshtein.distance,
        score_cutoff=limit,
        dtype=np.int64,
    )
    return np.asarray(compared)


def _common(first: Numbers, second: Numbers) -> Numbers:
    """Return the size of the intersection of two sets of numbers, given as sorted rows, (rows,)."""
    # Sorted together, exactly the common numbers have an equal neighbour.
    both = np.sort(np.concatenate([first, second], axis=1), axis=1)
    return np.asarray((both[:, 1:] == both[:, :-1]).sum(1))


def _codes(numbers: Sequence[Sequence[int]]) -> npt.NDArray[Any]:
    """Return sentences as strings with a character for each token; unknown tokens share one."""
    # One code is enough for all unknown tokens: the sentences of the index, which they are compared
    # with, have none.
    codes = np.empty(len(numbers), object)
    # Sentences of one length, which are compared with each other, lie beside each other in memory.
    for row in sorted(range(len(numbers)), key=lambda row: len(numbers[row])):
        codes[row] = "".join([chr(max(token, -1) + 1) for token in numbers[row]])
    return codes


def _sets(numbers: Sequence[Sequence[int]]) -> list[list[int]]:
    return [sorted(set(tokens)) for tokens in numbers]


def _no_pairs() -> Pairs:
    return Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64))
