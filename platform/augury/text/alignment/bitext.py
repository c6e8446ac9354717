"""Sentence pairs as arrays for word alignment, and the lexicon of their words and word pairs."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augury.core.errors import UserError
from augury.core.store import Folder
from augury.text.alignment.symmetrise import BOTH, Direction

LARGEST = 4_000_000  # maximum number of cells of a sentence pair, such as 2000 words on both sides


@dataclass(frozen=True)
class Lexicon:
    """The distinct words of each side, sorted, and the word pairs that co-occur in a sentence pair.

    Words are numbered by their index, and pairs (pairs,) by `source * len(target_words) + target`,
    in order of appearance: most of them occur once, so that arrays over pairs are read in sequence.
    """

    source_words: pa.Array
    target_words: pa.Array
    pairs: np.ndarray
    order: np.ndarray
    """The indices that sort the pairs."""

    @classmethod
    def union(cls, lexicons: Sequence[Lexicon]) -> tuple[Lexicon, tuple[Indices, ...]]:
        """Return the union of several lexicons, and the indices of each in it."""
        sources = _distinct(lexicon.source_words for lexicon in lexicons)
        targets = _distinct(lexicon.target_words for lexicon in lexicons)
        empty = np.zeros(0, np.int64)
        union = cls(sources, targets, empty, empty)
        numbers = [union._numbers(lexicon) for lexicon in lexicons]
        pairs, order, joint = _unique_numbers(np.concatenate(numbers))
        parts = np.split(joint, np.cumsum([len(part) for part in numbers])[:-1])
        indices = [
            Indices(
                part,
                _indices(lexicon.source_words, sources),
                _indices(lexicon.target_words, targets),
            )
            for part, lexicon in zip(parts, lexicons, strict=True)
        ]
        return cls(sources, targets, pairs, order), tuple(indices)

    def indices_of(self, other: Lexicon) -> Indices:
        """Return the indices in this lexicon of the words and pairs of another one, -1 if they
        are not in it."""
        mine, numbers = self.pairs[self.order], self._numbers(other)[other.order]
        places = np.searchsorted(mine, numbers)  # fast, as both are sorted
        places[places == len(mine)] = -1
        known = mine[places] == numbers if len(mine) else False
        pairs = np.empty(len(numbers), np.int64)
        pairs[other.order] = np.where(known, self.order[places] if len(mine) else -1, -1)
        return Indices(
            pairs,
            _indices(other.source_words, self.source_words),
            _indices(other.target_words, self.target_words),
        )

    def generated(self, direction: Direction) -> pa.Array:
        """Return the words of the generated side in a direction."""
        return self.target_words if direction == "forward" else self.source_words

    def generating(self, direction: Direction) -> np.ndarray:
        """Return the word of the generating side of each pair."""
        return self.words_of_pairs()[BOTH.index(direction)]

    def words_of_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the source and target word of each pair."""
        sources, targets = np.divmod(self.pairs, max(1, len(self.target_words)))
        return sources, targets

    def _numbers(self, other: Lexicon) -> np.ndarray:
        """Return the numbers in this lexicon of the pairs of another one, -1 if a word is
        unknown."""
        sources, targets = other.words_of_pairs()
        sources = _indices(other.source_words, self.source_words)[sources]
        targets = _indices(other.target_words, self.target_words)[targets]
        return np.where(
            (sources < 0) | (targets < 0), -1, sources * len(self.target_words) + targets
        )


class Indices(NamedTuple):
    """The indices of the pairs and words of one lexicon in another one."""

    pairs: np.ndarray
    source_words: np.ndarray
    target_words: np.ndarray

    def generated(self, direction: Direction) -> np.ndarray:
        """Return the indices of the words of the generated side in a direction."""
        return self.target_words if direction == "forward" else self.source_words


@dataclass(frozen=True)
class Bucket:
    """Sentence pairs with equally many words on the generating side, sorted by descending length of
    the generated side.

    Arrays over words are concatenations over the positions of the generated side: for each
    position, the words of the k pairs that are long enough, (k,). Arrays over cells have these
    words paired with all generating words, (generating, k). Since k does not increase, the pairs of
    a position are a prefix of those of the position before.
    """

    pairs: np.ndarray
    """Indices of the sentence pairs in the Bitext."""
    generating: int
    """Number of words on the generating side."""
    lengths: np.ndarray
    """Number of words on the generated side of each pair."""
    ends: np.ndarray
    """End of the words of each position, relative to the bucket."""
    start: int
    """Start of the bucket in arrays over words."""
    cell: int
    """Start of the bucket in arrays over cells."""

    @property
    def words(self) -> slice:
        """The bucket's slice of arrays over words."""
        return slice(self.start, self.start + int(self.ends[-1]))

    @property
    def cells(self) -> slice:
        """The bucket's slice of arrays over cells."""
        return slice(self.cell, self.cell + self.generating * int(self.ends[-1]))

    def words_by_position(self, words: np.ndarray) -> list[np.ndarray]:
        """Split the bucket's slice of an array over words into views (k,) by position."""
        ends = self.ends.tolist()
        return [words[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    def cells_by_position(self, cells: np.ndarray) -> list[np.ndarray]:
        """Split the bucket's slice of an array over cells into views (generating, k) by
        position."""
        ends = (self.ends * self.generating).tolist()
        return [
            cells[start:end].reshape(self.generating, -1)
            for start, end in zip([0, *ends], ends, strict=False)
        ]


@dataclass(frozen=True)
class Bitext:
    """Sentence pairs in buckets for vectorised computation, without pairs with an empty side.

    A cell is a pair of a source and a target word of a sentence pair.
    """

    rows: np.ndarray
    """Indices of the encoded rows that have words on both sides, (pairs,)."""
    lengths: np.ndarray
    """Numbers of source and target words of each pair, (pairs, 2)."""
    source: np.ndarray
    """Numbers of the source words, in the order of the reverse buckets."""
    target: np.ndarray
    """Numbers of the target words, in the order of the forward buckets."""
    cells: np.ndarray
    """Index of each cell in `Lexicon.pairs`, in the order of the forward buckets."""
    transposed: np.ndarray
    """Index in forward order of each cell, in the order of the reverse buckets."""

    def buckets(self, direction: Direction) -> list[Bucket]:
        """Return the buckets of a direction."""
        return _buckets(*(self.lengths.T if direction == "forward" else self.lengths.T[::-1]))

    def generated(self, direction: Direction) -> np.ndarray:
        """Return the words of the generated side in a direction."""
        return self.target if direction == "forward" else self.source

    def forward_cells(self, cells: np.ndarray, direction: Direction) -> np.ndarray:
        """Reorder an array over cells from the order of a direction to forward order."""
        if direction == "forward":
            return cells
        forward = np.empty_like(cells)
        forward[self.transposed] = cells
        return forward

    def cells_of(self, forward: np.ndarray, direction: Direction) -> np.ndarray:
        """Reorder an array over cells from forward order to the order of a direction."""
        return forward if direction == "forward" else forward.take(self.transposed)

    def write(self, folder: Folder, name: str) -> None:
        """Save to a file, uncompressed because it is read in every iteration."""
        buffer = io.BytesIO()
        for part in fields(self):
            np.save(buffer, getattr(self, part.name))
        folder.write(name, buffer.getvalue())

    @classmethod
    def read(cls, folder: Folder, name: str) -> Bitext:
        """Load a bitext saved by `write`."""
        buffer = io.BytesIO(folder.read(name))
        return cls(*(_array(buffer) for _ in fields(cls)))


def encode(
    sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]
) -> tuple[Bitext, Lexicon]:
    """Encode sentence pairs, given as lists of words, ignoring case.

    Raises UserError for pairs that are too long to be sentences.
    """
    assert len(sources) == len(targets), (len(sources), len(targets))
    source_words, source, source_lengths = _encode_side(sources)
    target_words, target, target_lengths = _encode_side(targets)
    _check_lengths(sources, source_lengths, target_lengths)
    rows = np.flatnonzero(source_lengths * target_lengths)
    lengths = np.stack([source_lengths, target_lengths], axis=1)[rows]
    source_starts, target_starts = (
        (np.cumsum(side) - side)[rows] for side in (source_lengths, target_lengths)
    )
    forward, reverse = _buckets(*lengths.T), _buckets(*lengths.T[::-1])
    generated = _words(forward, target, target_starts)
    numbers = np.empty(lengths.prod(axis=1).sum(), np.int64)
    for bucket in forward:
        generating = source[
            source_starts[bucket.pairs] + np.arange(bucket.generating)[:, None]
        ] * np.int64(len(target_words))
        words = bucket.words_by_position(generated[bucket.words])
        for block, word in zip(bucket.cells_by_position(numbers[bucket.cells]), words, strict=True):
            np.add(generating[:, : len(word)], word, out=block)
    pairs, order, cells = _unique_numbers(numbers)
    bitext = Bitext(
        rows,
        lengths,
        _words(reverse, source, source_starts),
        generated,
        cells,
        _transposed(forward, reverse),
    )
    return bitext, Lexicon(source_words, target_words, pairs, order)


def _array(buffer: io.BytesIO) -> np.ndarray:
    """Return the array that `np.save` wrote next, as a view of the buffer: it is large."""
    assert np.lib.format.read_magic(buffer) == (1, 0)
    shape, _, dtype = np.lib.format.read_array_header_1_0(buffer)
    array = np.frombuffer(buffer.getbuffer(), dtype, math.prod(shape), buffer.tell())
    buffer.seek(array.nbytes, io.SEEK_CUR)
    return array.reshape(shape)


def _buckets(generating: np.ndarray, generated: np.ndarray) -> list[Bucket]:
    """Return the buckets of sentence pairs with these numbers of words."""
    order = np.lexsort((-generated, generating))
    groups = np.split(order, np.flatnonzero(np.diff(generating[order])) + 1) if len(order) else []
    buckets, start, cell = [], 0, 0
    for pairs in groups:
        lengths = generated[pairs]
        ends = np.cumsum(len(pairs) - np.cumsum(np.bincount(lengths))[:-1])
        buckets.append(Bucket(pairs, int(generating[pairs[0]]), lengths, ends, start, cell))
        start, cell = buckets[-1].words.stop, buckets[-1].cells.stop
    return buckets


def _words(buckets: Sequence[Bucket], words: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the words of the generated side, whose sentences start at `starts`, in the order of
    the buckets."""
    ordered = np.empty(sum(int(bucket.ends[-1]) for bucket in buckets), np.int32)
    for bucket in buckets:
        first = starts[bucket.pairs]
        for position, block in enumerate(bucket.words_by_position(ordered[bucket.words])):
            block[:] = words[first[: len(block)] + position]
    return ordered


def _transposed(forward: Sequence[Bucket], reverse: Sequence[Bucket]) -> np.ndarray:
    """Return the index in forward order of each cell, in the order of the reverse buckets."""
    pairs = sum(len(bucket.pairs) for bucket in forward)
    # By pair: first position, rank in its bucket.
    first = np.empty(pairs, np.int64)
    rank = np.empty(pairs, np.int64)
    starts, strides, positions = [], [], 0
    for bucket in forward:
        first[bucket.pairs], rank[bucket.pairs] = positions, np.arange(len(bucket.pairs))
        strides.append(np.diff(bucket.ends, prepend=0))
        starts.append(bucket.cell + bucket.generating * (bucket.ends - strides[-1]))
        positions += len(bucket.ends)
    start, stride = _concatenate(starts, np.int64), _concatenate(strides, np.int64)
    transposed = np.empty(
        sum(bucket.generating * int(bucket.ends[-1]) for bucket in reverse), np.int32
    )
    for bucket in reverse:
        position = first[bucket.pairs] + np.arange(bucket.generating)[:, None]
        begin, step = start[position] + rank[bucket.pairs], stride[position]
        for row, block in enumerate(bucket.cells_by_position(transposed[bucket.cells])):
            k = block.shape[1]
            block[:] = begin[:, :k] + row * step[:, :k]
    return transposed


def _encode_side(sentences: Sequence[Sequence[str]]) -> tuple[pa.Array, np.ndarray, np.ndarray]:
    """Return the distinct words, the numbers of all words in order, and the lengths of the
    sentences."""
    written = pa.array(chain.from_iterable(sentences), pa.string()).dictionary_encode()
    lower = [word.lower() for word in written.dictionary.to_pylist()]
    words, numbers = _unique_words(pa.array(lower, pa.string()))
    numbers = numbers[written.indices.to_numpy()]
    return words, numbers, np.fromiter(map(len, sentences), np.int64, len(sentences))


def _check_lengths(
    sources: Sequence[Sequence[str]], source_lengths: np.ndarray, target_lengths: np.ndarray
) -> None:
    for row in np.flatnonzero(source_lengths * target_lengths > LARGEST)[:1]:
        raise UserError(
            f"a pair of {source_lengths[row]:,} and {target_lengths[row]:,} words is too long to "
            f"align ('{' '.join(sources[row][:8])} ...'): give one sentence per line"
        )


def _unique_words(values: pa.Array) -> tuple[pa.Array, np.ndarray]:
    """Return the distinct values, sorted, and the index of each value among them (int32)."""
    encoded = values.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary)
    ranks = np.empty(len(order), np.int32)
    ranks[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
    return encoded.dictionary.take(order), ranks[encoded.indices.to_numpy()]


def _unique_numbers(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct numbers in order of appearance, the indices that sort them, and the index
    of each number among them (int32)."""
    bits = len(numbers).bit_length()
    if int(numbers.max(initial=0)).bit_length() + bits > 63:
        _, first, indices = np.unique(numbers, return_index=True, return_inverse=True)
        ranks = _ranks(first, len(numbers))
        return numbers[np.sort(first)], ranks, ranks[indices]
    # Sorting numbers and positions packed into one integer is several times faster than hashing or
    # argsort.
    keys = numbers << bits
    keys |= np.arange(len(numbers), dtype=np.int32)
    keys.sort()
    order = keys & ((1 << bits) - 1)
    keys >>= bits
    new = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    # The first of equal numbers is that with the lowest position.
    starts = np.flatnonzero(new)
    ranks = _ranks(order[starts], len(keys))
    indices = np.empty(len(keys), np.int32)
    indices[order] = np.repeat(ranks, np.diff(starts, append=len(keys)))
    distinct = np.empty(len(starts), np.int64)
    distinct[ranks] = keys[starts]
    return distinct, ranks, indices


def _ranks(positions: np.ndarray, count: int) -> np.ndarray:
    """Return the rank of each of distinct positions below `count` (int32), without sorting."""
    marks = np.zeros(count, np.int32)
    marks[positions] = 1
    return np.asarray(np.cumsum(marks, dtype=np.int32)[positions] - 1, np.int32)


def _concatenate(arrays: Sequence[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate([array.ravel() for array in arrays]) if arrays else np.zeros(0, dtype)


def _distinct(arrays: Iterator[pa.Array]) -> pa.Array:
    values = pa.chunked_array(arrays, pa.string()).unique()
    return values.take(pc.sort_indices(values))


def _indices(values: pa.Array, among: pa.Array) -> np.ndarray:
    """Return the index of each value in another array, -1 if it is not in it."""
    return (
        pc.index_in(values, value_set=among)
        .fill_null(-1)
        .to_numpy(zero_copy_only=False)
        .astype(np.int64)
    )
