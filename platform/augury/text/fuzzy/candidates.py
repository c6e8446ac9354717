"""Candidate generation for fuzzy search: pairs of sentences that can be within a given edit
distance.

An edit affects at most one of several non-overlapping parts of a sentence. Of D + 1 such parts, at
least one therefore occurs in any sentence within edit distance D, at about the same position. Fewer
single tokens suffice if the other sentence is longer, since only D minus the difference in length
can be missing from it. Pass-Join (Li, Deng and Feng
2011) uses parts of equal length; here, the parts with the fewest occurrences are selected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Numbers: TypeAlias = "npt.NDArray[np.int64]"
Mask: TypeAlias = "npt.NDArray[np.bool_]"

SIZES = (1, 2, 3)  # lengths of parts, in tokens
FEW = 20_000  # number of pairs up to which comparing all is faster than filtering
MOST = 2_000_000  # maximum number of candidates in memory
# Of the hash of a part; a collision costs one comparison.
MIXER = 0x9E3779B97F4A7C1
BITS = (1 << 40) - 1


class Pairs(NamedTuple):
    """Indices of queries and of sentences, paired by position."""

    queries: Numbers
    sentences: Numbers

    def where(self, index: npt.NDArray[Any]) -> Pairs:
        """Return the pairs selected by a mask or by positions."""
        return Pairs(self.queries[index], self.sentences[index])


class Group:
    """Sentences of equal length: their indices `rows` (n,) and `tokens` (n, length), as numbers."""

    def __init__(self, rows: Numbers, tokens: Numbers):
        self.rows, self.tokens, self.length = rows, tokens, tokens.shape[1]

    def parts(self, size: int) -> Numbers:
        """Return the hashes of all parts with `size` tokens, (n, length - size + 1)."""
        parts = self.tokens[:, : self.length - size + 1]
        for offset in range(1, size):
            parts = (parts * MIXER + self.tokens[:, offset : offset + parts.shape[1]]) & BITS
        return parts

    @cached_property
    def postings(self) -> tuple[list[Numbers], npt.NDArray[np.int32]]:
        """An inverted index: sorted keys of parts and positions by size of part, and the
        sentences of all keys."""
        keys, owners = [], []
        for size in SIZES[: self.length]:
            parts = self.parts(size)
            numbers = (parts * self.length + np.arange(parts.shape[1])).ravel()
            order = np.argsort(numbers, kind="stable")
            keys.append(numbers[order])
            owners.append((order // parts.shape[1]).astype(np.int32))
        return keys, np.concatenate(owners)


def by_length(sentences: Sequence[Sequence[int]]) -> list[Group]:
    """Group sentences by length, without empty ones."""
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
    groups = []
    for length in np.unique(lengths[lengths > 0]):
        rows = np.flatnonzero(lengths == length)
        groups.append(Group(rows, np.array([sentences[row] for row in rows.tolist()])))
    return groups


def candidates(query: Group, group: Group, edits: int, anywhere: bool = False) -> Iterator[Pairs]:
    """Yield distinct pairs of indices in both groups that include all pairs within edit distance
    `edits`.

    With `anywhere`, tokens are taken as sets. `edits` must be at least the difference in length.
    """
    pairs = len(query.rows) * len(group.rows)
    if pairs <= FEW:
        yield Pairs(*np.divmod(np.arange(pairs), len(group.rows)))
        return
    gap = group.length - query.length
    # A common part is shifted by the insertions minus the deletions before it, and the edits after
    # it compensate.
    backward, forward = (
        (query.length, group.length) if anywhere else ((edits - gap) // 2, (edits + gap) // 2)
    )
    starts, counts = _find(query, group, backward, forward)
    mask = _rarest(counts, query.length, edits - max(gap, 0) + 1)
    if edits < query.length and not anywhere:
        parts = _cheapest_parts(counts, query.length, edits + 1)
        mask = min(mask, parts, key=lambda mask: int(counts[mask].sum()))
    owners = group.postings[1]
    rows, starts, counts = np.nonzero(mask)[0], starts[mask], counts[mask]
    cuts = np.flatnonzero(np.diff(counts.cumsum() // MOST)) + 1
    # Keeps all candidates of a query in one batch.
    cuts = np.unique(np.searchsorted(rows, rows[cuts]))
    for first, last in zip([0, *cuts], [*cuts, len(rows)], strict=True):
        posted = owners[_ranges(starts[first:last], counts[first:last])]
        numbers = np.unique(
            np.repeat(rows[first:last], counts[first:last]) * len(group.rows) + posted
        )
        yield Pairs(*np.divmod(numbers, len(group.rows)))


def _find(query: Group, group: Group, backward: int, forward: int) -> tuple[Numbers, Numbers]:
    """Return the start and number of postings for each part of the queries, each (queries, parts).

    Postings are limited to positions from `backward` before that of the part to `forward` after it.
    Parts are sorted by size, then by position.
    """
    keys, _ = group.postings
    starts, counts, before = [], [], 0
    for size in SIZES[: query.length]:
        parts = query.parts(size) * group.length
        positions = np.arange(parts.shape[1])
        if size > group.length:
            starts.append(np.zeros_like(parts))
            counts.append(np.zeros_like(parts))
            continue
        sorted_keys = keys[size - 1]
        first = np.searchsorted(sorted_keys, parts + np.maximum(positions - backward, 0), "left")
        last = np.searchsorted(
            sorted_keys, parts + np.minimum(positions + forward, group.length - 1), "right"
        )
        starts.append(first + before)
        counts.append(np.maximum(last - first, 0))
        before += len(sorted_keys)
    return np.concatenate(starts, axis=1), np.concatenate(counts, axis=1)


def _rarest(counts: Numbers, length: int, number: int) -> Mask:
    """Return the mask (queries, parts) of the `number` single tokens with the fewest postings."""
    mask = np.zeros(counts.shape, bool)
    rarest = np.argsort(counts[:, :length], axis=1, kind="stable")[:, :number]
    np.put_along_axis(mask, rarest, True, axis=1)
    return mask


def _cheapest_parts(counts: Numbers, length: int, number: int) -> Mask:
    """Return the mask (queries, parts) of `number` non-overlapping parts with the fewest postings
    in total.

    By dynamic programming over the end position and the number of parts up to it.
    """
    queries, sizes = np.arange(len(counts)), SIZES[:length]
    columns = dict(zip(sizes, np.cumsum([0, *(length - size + 1 for size in sizes)]), strict=False))
    # [end, query, parts].
    least = np.full((length + 1, len(counts), number + 1), np.iinfo(np.int64).max // 2)
    least[:, :, 0] = 0
    # Size of the part that ends there, 0 for none.
    last = np.zeros((length + 1, len(counts), number + 1), np.int8)
    for end in range(1, length + 1):
        least[end] = least[end - 1]
        for size in sizes[:end]:
            with_part = least[end - size, :, :-1] + counts[:, columns[size] + end - size, None]
            better = with_part < least[end, :, 1:]
            least[end, :, 1:][better] = with_part[better]
            last[end, :, 1:][better] = size
    mask = np.zeros(counts.shape, bool)
    ends, left = np.full(len(counts), length), np.full(len(counts), number)
    while (ends > 0).any():
        size = last[ends, queries, left].astype(np.int64)
        taken = (size > 0) & (ends > 0)
        column = np.array([0, *columns.values()])[size] + ends - size
        mask[queries[taken], column[taken]] = True
        ends, left = np.maximum(ends - np.maximum(size, 1), 0), left - taken
    assert not left.any(), "there must be at least as many tokens as parts"
    return mask


def _ranges(starts: Numbers, counts: Numbers) -> Numbers:
    """Return the concatenated ranges [start, start + count)."""
    ends = counts.cumsum()
    return np.repeat(starts - ends + counts, counts) + np.arange(ends[-1] if len(ends) else 0)
