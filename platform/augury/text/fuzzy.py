"""Exact search for similar sentences by token edit distance.

Sentences of m and n tokens within edit distance D have at least c = max(m, n) - D of them in
common. In an order that all sentences share, rare tokens first, two of these are therefore among
the first m - c + 2 and n - c + 2 tokens (the prefix filter of Chaudhuri, Ganti and Kaushik 2006,
with the longer prefixes of Wang, Li and Feng 2012). `rapidfuzz` compares the pairs that have them,
with tokens as code points.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache, cached_property
from itertools import chain
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cpdist

from augury.core.errors import UserError

Norm = Literal["min", "max"]
Numbers: TypeAlias = "npt.NDArray[np.int64]"

MOST = 2_000_000  # maximum number of candidates in memory


class Pairs(NamedTuple):
    """Indices of queries and of sentences, paired by position."""

    queries: Numbers
    sentences: Numbers

    def where(self, index: npt.NDArray[Any]) -> Pairs:
        """Return the pairs selected by a mask or by positions."""
        return Pairs(self.queries[index], self.sentences[index])


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


@cache
def _max_distance(threshold: float) -> Fraction:
    return 1 - Fraction(str(threshold))


class Group:
    """Sentences with equally many items: their indices `rows` (n,), and the ranks of their `items`
    (n, length), ascending, which are higher the more frequent an item is."""

    def __init__(self, rows: Numbers, items: Numbers):
        self.rows, self.items, self.length = rows, items, items.shape[1]

    @cached_property
    def postings(self) -> tuple[Numbers, Numbers]:
        """The sorted keys `item * length + place` of all items, and the sentences of keys."""
        keys = (self.items * self.length + np.arange(self.length)).ravel()
        order = np.argsort(keys, kind="stable")
        return keys[order], order // self.length


NO_PAIRS = Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64))
Item = tuple[str, int]
"""A token, and how many equal ones are before it in the sentence."""


def _occurrences(tokens: Sequence[str]) -> list[Item]:
    """Return the tokens of a sentence as items, each of which occurs once."""
    seen: dict[str, int] = {}
    items = []
    for token in tokens:
        before = seen.get(token, 0)
        items.append((token, before))
        seen[token] = before + 1
    return items


def _distinct(tokens: Sequence[str]) -> list[Item]:
    return [(token, 0) for token in dict.fromkeys(tokens)]


def candidates(query: Group, group: Group, common: int) -> Iterator[Pairs]:
    """Yield the pairs of sentences of two groups, in parts, that have two items of their prefixes
    in common, or the one of `common`: all with so many items in common are among them."""
    keys, owners = group.postings
    shared = min(2, common)
    prefix = query.items[:, : query.length - common + shared] * group.length
    starts = np.searchsorted(keys, prefix)
    counts = np.searchsorted(keys, prefix + group.length - common + shared) - starts
    # All candidates of a query are in one part.
    cuts = np.flatnonzero(np.diff(counts.sum(axis=1).cumsum() // MOST)) + 1
    for rows in np.split(np.arange(len(query.rows)), cuts):
        start, count = starts[rows].ravel(), counts[rows].ravel()
        places = np.repeat(start - count.cumsum() + count, count) + np.arange(count.sum())
        queries = np.repeat(rows, counts[rows].sum(axis=1))
        numbers, times = np.unique(queries * len(group.rows) + owners[places], return_counts=True)
        yield Pairs(*np.divmod(numbers[times >= shared], len(group.rows)))


class FuzzyIndex:
    """An index of tokenised sentences."""

    def __init__(self, sentences: Sequence[Sequence[str]]):
        self._sentences = sentences
        tokens = dict.fromkeys(chain.from_iterable(sentences))
        if len(tokens) > sys.maxunicode:
            raise UserError(
                f"fuzzy matches are of {sys.maxunicode:,} different words at most, and the text "
                f"has {len(tokens):,}: restrict it, as by of or train.first"
            )
        self._characters = {token: chr(number) for number, token in enumerate(tokens, 1)}
        self._codes = self._encoded(sentences)
        counts = Counter(chain.from_iterable(map(_occurrences, sentences)))
        frequent = counts.most_common()
        self._ranks = {item: rank for rank, (item, _) in enumerate(reversed(frequent))}
        self._groups = self._grouped(map(_occurrences, sentences))

    @cached_property
    def _sets(self) -> list[Group]:
        """The sentences as sets of tokens, which only `overlapping` needs."""
        return self._grouped(map(_distinct, self._sentences))

    def similar(self, queries: Sequence[Sequence[str]], limit: Limit) -> Pairs:
        """Return all pairs of a query and a sentence that are similar but not equal, sorted."""
        codes, found = self._encoded(queries), [NO_PAIRS]
        for query in self._grouped(map(_occurrences, queries)):
            for group in self._groups:
                edits = limit.edits(query.length, group.length)
                # Lengths that differ by more need more edits, and without any, sentences are equal.
                if edits < max(1, abs(query.length - group.length)):
                    continue
                for local in candidates(query, group, max(query.length, group.length) - edits):
                    pairs = Pairs(query.rows[local.queries], group.rows[local.sentences])
                    distances = _distances(codes, self._codes, pairs, edits)
                    found.append(pairs.where((distances > 0) & (distances <= edits)))
        pairs = Pairs(*map(np.concatenate, zip(*found, strict=True)))
        return pairs.where(np.lexsort(pairs[::-1]))

    def filter_similar(self, queries: Sequence[Sequence[str]], limit: Limit, pairs: Pairs) -> Pairs:
        """Return those pairs that are similar but not equal."""
        distances = _distances(self._encoded(queries), self._codes, pairs)
        limits = []
        for query, sentence in zip(*map(np.ndarray.tolist, pairs), strict=True):
            limits.append(limit.edits(len(queries[query]), len(self._sentences[sentence])))
        return pairs.where((distances > 0) & (distances <= np.array(limits, np.int64)))

    def overlapping(
        self, queries: Sequence[Sequence[str]], share: float
    ) -> tuple[Pairs, npt.NDArray[np.float64]]:
        """Return the sorted pairs of token sets A and B with |A ∩ B| / max(|A|, |B|) at least
        `share`, and these values."""
        # |A ∩ B| / longer ≥ share says that at most (1 - share) · longer tokens of the longer set
        # are not in the other: the bound that the limit with norm max puts on edits.
        limit, found, shares = Limit(share, "max"), [NO_PAIRS], [np.zeros(0)]
        for query in self._grouped(map(_distinct, queries)):
            for group in self._sets:
                longer = max(query.length, group.length)
                least = longer - limit.edits(query.length, group.length)
                if least > min(query.length, group.length):
                    continue
                for local in candidates(query, group, least):
                    sets = query.items[local.queries], group.items[local.sentences]
                    both = np.sort(np.concatenate(sets, axis=1), axis=1)
                    # Sorted together, exactly the common numbers have an equal neighbour.
                    common = (both[:, 1:] == both[:, :-1]).sum(1)
                    pairs = Pairs(query.rows[local.queries], group.rows[local.sentences])
                    found.append(pairs.where(common >= least))
                    shares.append(common[common >= least] / longer)
        pairs = Pairs(*map(np.concatenate, zip(*found, strict=True)))
        order = np.lexsort(pairs[::-1])
        return pairs.where(order), np.concatenate(shares)[order]

    def _grouped(self, sentences: Iterable[Sequence[Item]]) -> list[Group]:
        """Group sentences by their number of items, without empty ones."""
        # Items that are not in the index are the rarest, and each is another one: a set of them has
        # the right size.
        ranks, unknown = self._ranks, dict[Item, int]()
        by_length: dict[int, tuple[list[int], list[list[int]]]] = {}
        for row, items in enumerate(sentences):
            numbers = [
                ranks[item] if item in ranks else unknown.setdefault(item, ~len(unknown))
                for item in items
            ]
            rows, ranked = by_length.setdefault(len(items), ([], []))
            rows.append(row)
            ranked.append(sorted(numbers))
        by_length.pop(0, None)
        return [Group(np.array(rows), np.array(ranked)) for rows, ranked in by_length.values()]

    def _encoded(self, sentences: Sequence[Sequence[str]]) -> npt.NDArray[Any]:
        """Return sentences as strings with a character for each token.

        One character is enough for all unknown tokens: the sentences of the index have none.
        """
        codes = np.empty(len(sentences), object)
        for row, tokens in enumerate(sentences):
            codes[row] = "".join([self._characters.get(token, "\0") for token in tokens])
        return codes


def _distances(
    queries: npt.NDArray[Any], sentences: npt.NDArray[Any], pairs: Pairs, limit: int | None = None
) -> Numbers:
    """Return the edit distances of pairs of encoded sentences; `limit + 1` if the distance
    exceeds `limit`."""
    first, second = queries[pairs.queries], sentences[pairs.sentences]
    found = cpdist(first, second, scorer=Levenshtein.distance, score_cutoff=limit, dtype=np.int64)
    return np.asarray(found)
