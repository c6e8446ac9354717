"""Sentence pairs as arrays for word alignment, and the lexicon of words and word pairs that occur in them."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augury.core.errors import UserError
from augury.core.store import Folder
from augury.text.symmetrise import BOTH, Direction

LARGEST = 4_000_000  # cells of one sentence pair, 2000 words on both sides


@dataclass(frozen=True)
class Lexicon:
    """The distinct words of each side, sorted, and the pairs of words that co-occur in a sentence pair.

    A word's number is its index; the number of a pair is `source * len(target_words) + target`, sorted, (pairs,).
    """

    source_words: pa.Array
    target_words: pa.Array
    pairs: np.ndarray

    @classmethod
    def union(cls, lexicons: Sequence[Lexicon]) -> Lexicon:
        """Return the words and pairs of several lexicons."""
        sources = _distinct(lexicon.source_words for lexicon in lexicons)
        targets = _distinct(lexicon.target_words for lexicon in lexicons)
        union = cls(sources, targets, np.zeros(0, np.int64))
        pairs = np.sort(np.concatenate([union._numbers(lexicon) for lexicon in lexicons]))
        return cls(sources, targets, pairs[np.diff(pairs, prepend=-1) > 0])

    def indices_of(self, other: Lexicon) -> Indices:
        """Return the indices of another lexicon's words and pairs in this one; -1 for those that are not in it."""
        numbers = self._numbers(other)
        pairs = np.searchsorted(self.pairs, numbers)
        pairs[pairs == len(self.pairs)] = -1
        known = self.pairs[pairs] == numbers if len(self.pairs) else False
        return Indices(
            np.where(known, pairs, -1),
            _indices(other.source_words, self.source_words),
            _indices(other.target_words, self.target_words),
        )

    def generated(self, direction: Direction) -> pa.Array:
        """Return the words that are generated in a direction."""
        return self.target_words if direction == "forward" else self.source_words

    def generating(self, direction: Direction) -> np.ndarray:
        """Return the word of each pair that generates the other."""
        return self.words_of_pairs()[BOTH.index(direction)]

    def words_of_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the source and the target word of each pair."""
        sources, targets = np.divmod(self.pairs, max(1, len(self.target_words)))
        return sources, targets

    def _numbers(self, other: Lexicon) -> np.ndarray:
        """Return the numbers that another lexicon's pairs have here; -1 where a word is unknown."""
        sources, targets = other.words_of_pairs()
        sources = _indices(other.source_words, self.source_words)[sources]
        targets = _indices(other.target_words, self.target_words)[targets]
        return np.where((sources < 0) | (targets < 0), -1, sources * len(self.target_words) + targets)


class Indices(NamedTuple):
    """For each pair, source word and target word of one lexicon, its index in another."""

    pairs: np.ndarray
    source_words: np.ndarray
    target_words: np.ndarray

    def generated(self, direction: Direction) -> np.ndarray:
        """Return the indices of the words that are generated in a direction."""
        return self.target_words if direction == "forward" else self.source_words


@dataclass(frozen=True)
class Bucket:
    """Sentence pairs that have equally many words on the side that generates, those first that have most on the other.

    For each position of the generated side, one after the other, an array over words holds the words that its pairs
    have there, (k,), and an array over cells these words paired with all that generate, (generating, k). As k never
    rises, the pairs of a position are the first of those of the position before it.
    """

    pairs: np.ndarray
    """The indices of its sentence pairs in the Bitext."""
    generating: int
    """Words of the side that generates."""
    lengths: np.ndarray
    """Words of the side that is generated, for each pair."""
    ends: np.ndarray
    """The end of the words of each position, counted from the first of the bucket."""
    start: int
    """The beginning of its words in an array over words."""
    cell: int
    """The beginning of its cells in an array over cells."""

    @property
    def words(self) -> slice:
        """Its part of an array over words."""
        return slice(self.start, self.start + int(self.ends[-1]))

    @property
    def cells(self) -> slice:
        """Its part of an array over cells."""
        return slice(self.cell, self.cell + self.generating * int(self.ends[-1]))

    def words_by_position(self, words: np.ndarray) -> list[np.ndarray]:
        """Return views of its part of an array over words, (k,) for each position."""
        ends = self.ends.tolist()
        return [words[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    def cells_by_position(self, cells: np.ndarray) -> list[np.ndarray]:
        """Return views of its part of an array over cells, (generating, k) for each position."""
        ends = (self.ends * self.generating).tolist()
        return [cells[start:end].reshape(self.generating, -1) for start, end in zip([0, *ends], ends, strict=False)]


@dataclass(frozen=True)
class Bitext:
    """Sentence pairs in buckets of each direction, so that many are computed at once.

    A cell is a source and a target word of one sentence pair. Pairs of which a side is empty are left out.
    """

    rows: np.ndarray
    """The indices of the encoded rows that have words on both sides, (pairs,)."""
    lengths: np.ndarray
    """Source and target words of each pair, (pairs, 2)."""
    source: np.ndarray
    """The numbers of the words that are generated in reverse, in the order of its buckets."""
    target: np.ndarray
    """The numbers of the words that are generated forward."""
    cells: np.ndarray
    """The index of each cell's words in `Lexicon.pairs`, in the order of the forward buckets."""
    transposed: np.ndarray
    """The index of each cell in the forward order, in the order of the reverse buckets."""

    def buckets(self, direction: Direction) -> list[Bucket]:
        """Return all pairs, in the buckets of a direction."""
        return _buckets(*(self.lengths.T if direction == "forward" else self.lengths.T[::-1]))

    def generated(self, direction: Direction) -> np.ndarray:
        """Return the words that are generated in a direction."""
        return self.target if direction == "forward" else self.source

    def forward_cells(self, cells: np.ndarray, direction: Direction) -> np.ndarray:
        """Return an array over the cells of a direction in the order of the forward buckets."""
        if direction == "forward":
            return cells
        forward = np.empty_like(cells)
        forward[self.transposed] = cells
        return forward

    def cells_of(self, forward: np.ndarray, direction: Direction) -> np.ndarray:
        """Return an array over forward cells in the order of a direction's."""
        return forward if direction == "forward" else forward.take(self.transposed)

    def write(self, folder: Folder, name: str) -> None:
        """Write it to a file, uncompressed: it is read in every iteration."""
        buffer = io.BytesIO()
        for part in fields(self):
            np.save(buffer, getattr(self, part.name))
        folder.write(name, buffer.getvalue())

    @classmethod
    def read(cls, folder: Folder, name: str) -> Bitext:
        """Read the bitext that `write` wrote."""
        buffer = io.BytesIO(folder.read(name))
        return cls(*(np.load(buffer) for _ in fields(cls)))


def encode(sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]) -> tuple[Bitext, Lexicon]:
    """Encode sentence pairs, each side a list of words, as arrays; case is ignored.

    Raises UserError for a pair too long to be one of sentences.
    """
    assert len(sources) == len(targets), (len(sources), len(targets))
    source_words, source, source_lengths = _side(sources)
    target_words, target, target_lengths = _side(targets)
    _refuse_documents(sources, source_lengths, target_lengths)
    rows = np.flatnonzero(source_lengths * target_lengths)
    lengths = np.stack([source_lengths, target_lengths], axis=1)[rows]
    source_starts, target_starts = ((np.cumsum(side) - side)[rows] for side in (source_lengths, target_lengths))
    forward, reverse = _buckets(*lengths.T), _buckets(*lengths.T[::-1])
    generated = _words(forward, target, target_starts)
    numbers = np.empty(lengths.prod(axis=1).sum(), np.int64)
    for bucket in forward:
        generating = source[source_starts[bucket.pairs] + np.arange(bucket.generating)[:, None]] * np.int64(
            len(target_words)
        )
        words = bucket.words_by_position(generated[bucket.words])
        for block, word in zip(bucket.cells_by_position(numbers[bucket.cells]), words, strict=True):
            np.add(generating[:, : len(word)], word, out=block)
    pairs, cells = _distinct_numbers(numbers)
    bitext = Bitext(
        rows, lengths, _words(reverse, source, source_starts), generated, cells, _transposed(forward, reverse)
    )
    return bitext, Lexicon(source_words, target_words, pairs)


def _buckets(generating: np.ndarray, generated: np.ndarray) -> list[Bucket]:
    """Return the buckets of pairs with these numbers of words."""
    order = np.lexsort((-generated, generating))
    parts = np.split(order, np.flatnonzero(np.diff(generating[order])) + 1) if len(order) else []
    buckets, start, cell = [], 0, 0
    for pairs in parts:
        lengths = generated[pairs]
        ends = np.cumsum(len(pairs) - np.cumsum(np.bincount(lengths))[:-1])
        buckets.append(Bucket(pairs, int(generating[pairs[0]]), lengths, ends, start, cell))
        start, cell = buckets[-1].words.stop, buckets[-1].cells.stop
    return buckets


def _words(buckets: Sequence[Bucket], words: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the words of the generated side, whose sentences begin at `starts`, in the order of the buckets."""
    ordered = np.empty(sum(int(bucket.ends[-1]) for bucket in buckets), np.int32)
    for bucket in buckets:
        first = starts[bucket.pairs]
        for position, block in enumerate(bucket.words_by_position(ordered[bucket.words])):
            block[:] = words[first[: len(block)] + position]
    return ordered


def _transposed(forward: Sequence[Bucket], reverse: Sequence[Bucket]) -> np.ndarray:
    """Return the index of each cell in the forward order, in the order of the reverse buckets."""
    pairs = sum(len(bucket.pairs) for bucket in forward)
    first, rank = np.empty(pairs, np.int64), np.empty(pairs, np.int64)  # of a pair: its bucket's first index, its own k
    starts, strides, positions = [], [], 0
    for bucket in forward:
        first[bucket.pairs], rank[bucket.pairs] = positions, np.arange(len(bucket.pairs))
        strides.append(np.diff(bucket.ends, prepend=0))
        starts.append(bucket.cell + bucket.generating * (bucket.ends - strides[-1]))
        positions += len(bucket.ends)
    start, stride = _joined(starts, np.int64), _joined(strides, np.int64)
    transposed = np.empty(sum(bucket.generating * int(bucket.ends[-1]) for bucket in reverse), np.int32)
    for bucket in reverse:
        position = first[bucket.pairs] + np.arange(bucket.generating)[:, None]
        begin, step = start[position] + rank[bucket.pairs], stride[position]
        for row, block in enumerate(bucket.cells_by_position(transposed[bucket.cells])):
            k = block.shape[1]
            block[:] = begin[:, :k] + row * step[:, :k]
    return transposed


def _side(sentences: Sequence[Sequence[str]]) -> tuple[pa.Array, np.ndarray, np.ndarray]:
    """Return distinct words, the number of every word one after the other, and the lengths of the sentences."""
    lower = [word.lower() for word in chain.from_iterable(sentences)]
    words, numbers = _numbered(pa.array(lower, pa.string()))
    return words, numbers, np.fromiter(map(len, sentences), np.int64, len(sentences))


def _refuse_documents(sources: Sequence[Sequence[str]], source_lengths: np.ndarray, target_lengths: np.ndarray) -> None:
    for row in np.flatnonzero(source_lengths * target_lengths > LARGEST)[:1]:
        raise UserError(
            f"a line of {source_lengths[row]:,} words beside one of {target_lengths[row]:,} is too long to align "
            f"('{' '.join(sources[row][:8])} ...'): give one sentence a line"
        )


def _numbered(values: pa.Array) -> tuple[pa.Array, np.ndarray]:
    """Return the distinct values, sorted, and the index of every value among them (int32)."""
    encoded = values.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary)
    ranks = np.empty(len(order), np.int32)
    ranks[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
    return encoded.dictionary.take(order), ranks[encoded.indices.to_numpy()]


def _distinct_numbers(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct numbers, sorted, and the index of every number among them (int32)."""
    bits = len(numbers).bit_length()
    if int(numbers.max(initial=0)).bit_length() + bits > 63:
        distinct, indices = np.unique(numbers, return_inverse=True)
        return distinct, indices.astype(np.int32)
    # A number and its position sorted as one: several times as fast as hashing, or as sorting the positions.
    keys = numbers << bits
    keys |= np.arange(len(numbers), dtype=np.int32)
    keys.sort()
    order = keys & ((1 << bits) - 1)
    keys >>= bits
    new = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    indices = np.empty(len(keys), np.int32)
    indices[order] = np.cumsum(new, dtype=np.int32) - 1
    return keys[new], indices


def _joined(arrays: Sequence[np.ndarray], kind: type) -> np.ndarray:
    return np.concatenate([array.ravel() for array in arrays]) if arrays else np.zeros(0, kind)


def _distinct(arrays: Iterator[pa.Array]) -> pa.Array:
    values = pa.chunked_array(arrays, pa.string()).unique()
    return values.take(pc.sort_indices(values))


def _indices(values: pa.Array, among: pa.Array) -> np.ndarray:
    """Return the index of each value in another array, -1 where it is not in it."""
    return pc.index_in(values, value_set=among).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
