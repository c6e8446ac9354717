"""Which sentences of one length may be so many edits apart from those of another: few, found without comparing all.

An edit changes at most one of several parts of a sentence that do not overlap: of D + 1 such parts, one stands in any
sentence that is D edits apart, at about the same place. Of single tokens fewer are needed, where the other sentence is
longer: only D less the difference of the lengths can be missing there. The parts that the fewest sentences have are
taken. (Li, Deng and Feng 2011, Pass-Join, cut sentences into equal parts; rare words make better ones.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]

SIZES = (1, 2, 3)  # tokens of a part
FEW = 20_000  # pairs that are sooner compared than filtered
MOST = 2_000_000  # candidates that are in memory at once
MIXER, BITS = 0x9E3779B97F4A7C1, (1 << 40) - 1  # of the hash of several tokens; a clash costs a comparison


class Pairs(NamedTuple):
    """Positions of queries, and of the sentences that go with them."""

    queries: Numbers
    sentences: Numbers

    def where(self, chosen: NDArray[Any]) -> Pairs:
        """Return the pairs that a mask or positions choose."""
        return Pairs(self.queries[chosen], self.sentences[chosen])


class Group:
    """Sentences of one length: `rows` (n,) says which, `tokens` (n, length) are theirs, as numbers."""

    def __init__(self, rows: Numbers, tokens: Numbers):
        self.rows, self.tokens, self.length = rows, tokens, tokens.shape[1]

    def parts(self, size: int) -> Numbers:
        """Return the parts of so many tokens from every place on, as numbers (n, length - size + 1)."""
        parts = self.tokens[:, : self.length - size + 1]
        for place in range(1, size):
            parts = (parts * MIXER + self.tokens[:, place : place + parts.shape[1]]) & BITS
        return parts

    @cached_property
    def postings(self) -> tuple[list[Numbers], NDArray[np.int32]]:
        """The parts of every size with their places as one number each, sorted, and the sentences that they are in."""
        keys, owners = [], []
        for size in SIZES[: self.length]:
            parts = self.parts(size)
            numbers = (parts * self.length + np.arange(parts.shape[1])).ravel()
            order = np.argsort(numbers, kind="stable")
            keys.append(numbers[order])
            owners.append((order // parts.shape[1]).astype(np.int32))
        return keys, np.concatenate(owners)


def by_length(sentences: Sequence[Sequence[int]]) -> list[Group]:
    """Return sentences in groups of one length; empty ones are in none."""
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
    rows_by_length = [np.flatnonzero(lengths == length) for length in np.unique(lengths[lengths > 0])]
    return [Group(rows, np.array([sentences[row] for row in rows.tolist()])) for rows in rows_by_length]


def candidates(query: Group, group: Group, edits: int, anywhere: bool = False) -> Iterator[Pairs]:
    """Yield pairs of positions in both groups, each once, all pairs that are at most so many edits apart among them.

    With `anywhere`, tokens are in no order. `edits` is at least the difference of the lengths.
    """
    pairs = len(query.rows) * len(group.rows)
    if pairs <= FEW:
        yield Pairs(*np.divmod(np.arange(pairs), len(group.rows)))
        return
    gap = group.length - query.length
    # What stands in both is moved by insertions less deletions before it, and what follows makes up for them.
    back, forth = (query.length, group.length) if anywhere else ((edits - gap) // 2, (edits + gap) // 2)
    starts, counts = _find(query, group, back, forth)
    chosen = _rarest(counts, query.length, edits - max(gap, 0) + 1)
    if edits < query.length and not anywhere:
        parts = _cheapest_parts(counts, query.length, edits + 1)
        chosen = min(chosen, parts, key=lambda mask: int(counts[mask].sum()))
    owners = group.postings[1]
    rows, starts, counts = np.nonzero(chosen)[0], starts[chosen], counts[chosen]
    cuts = np.flatnonzero(np.diff(counts.cumsum() // MOST)) + 1
    cuts = np.unique(np.searchsorted(rows, rows[cuts]))  # a query is not cut
    for first, last in zip([0, *cuts], [*cuts, len(rows)], strict=True):
        posted = owners[_ranges(starts[first:last], counts[first:last])]
        numbers = np.unique(np.repeat(rows[first:last], counts[first:last]) * len(group.rows) + posted)
        yield Pairs(*np.divmod(numbers, len(group.rows)))


def _find(query: Group, group: Group, back: int, forth: int) -> tuple[Numbers, Numbers]:
    """Return where the postings of every part of the queries begin and how many there are, each (queries, parts).

    They are those at most so many places before and behind the part's own; parts are by size and then by place.
    """
    keys, _ = group.postings
    starts, counts, before = [], [], 0
    for size in SIZES[: query.length]:
        parts = query.parts(size) * group.length
        places = np.arange(parts.shape[1])
        if size > group.length:
            starts.append(np.zeros_like(parts))
            counts.append(np.zeros_like(parts))
            continue
        sorted_keys = keys[size - 1]
        first = np.searchsorted(sorted_keys, parts + np.maximum(places - back, 0), "left")
        last = np.searchsorted(sorted_keys, parts + np.minimum(places + forth, group.length - 1), "right")
        starts.append(first + before)
        counts.append(np.maximum(last - first, 0))
        before += len(sorted_keys)
    return np.concatenate(starts, axis=1), np.concatenate(counts, axis=1)


def _rarest(counts: Numbers, length: int, number: int) -> Mask:
    """Return the mask (queries, parts) of so many single tokens with the fewest postings."""
    chosen = np.zeros(counts.shape, bool)
    rarest = np.argsort(counts[:, :length], axis=1, kind="stable")[:, :number]
    np.put_along_axis(chosen, rarest, True, axis=1)
    return chosen


def _cheapest_parts(counts: Numbers, length: int, number: int) -> Mask:
    """Return the mask (queries, parts) of so many parts that do not overlap and have the fewest postings together."""
    queries, sizes = np.arange(len(counts)), SIZES[:length]
    columns = dict(zip(sizes, np.cumsum([0, *(length - size + 1 for size in sizes)]), strict=False))
    least = np.full((length + 1, len(counts), number + 1), np.iinfo(np.int64).max // 2)  # [end, query, parts up to it]
    least[:, :, 0] = 0
    last = np.zeros((length + 1, len(counts), number + 1), np.int8)  # the size of the part that ends there, if any
    for end in range(1, length + 1):
        least[end] = least[end - 1]
        for size in sizes[:end]:
            with_part = least[end - size, :, :-1] + counts[:, columns[size] + end - size, None]
            better = with_part < least[end, :, 1:]
            least[end, :, 1:][better] = with_part[better]
            last[end, :, 1:][better] = size
    chosen = np.zeros(counts.shape, bool)
    ends, left = np.full(len(counts), length), np.full(len(counts), number)
    while (ends > 0).any():
        size = last[ends, queries, left].astype(np.int64)
        taken = (size > 0) & (ends > 0)
        column = np.array([0, *columns.values()])[size] + ends - size
        chosen[queries[taken], column[taken]] = True
        ends, left = np.maximum(ends - np.maximum(size, 1), 0), left - taken
    assert not left.any(), "there are at least as many tokens as parts"
    return chosen


def _ranges(starts: Numbers, counts: Numbers) -> Numbers:
    """Return so many numbers from each start on."""
    ends = counts.cumsum()
    return np.repeat(starts - ends + counts, counts) + np.arange(ends[-1] if len(ends) else 0)
