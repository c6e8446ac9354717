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

    A word's number is its place; the number of a pair is `source * len(target_words) + target`, sorted, (pairs,).
    """

    source_words: pa.Array
    target_words: pa.Array
    pairs: np.ndarray

    @classmethod
    def union(cls, lexicons: Sequence[Lexicon]) -> Lexicon:
        """The words and pairs of several lexicons."""
        sources = _distinct(lexicon.source_words for lexicon in lexicons)
        targets = _distinct(lexicon.target_words for lexicon in lexicons)
        union = cls(sources, targets, np.zeros(0, np.int64))
        pairs = np.sort(np.concatenate([union._numbers(lexicon) for lexicon in lexicons]))
        return cls(sources, targets, pairs[np.diff(pairs, prepend=-1) > 0])

    def places(self, other: Lexicon) -> Places:
        """Where the words and pairs of another lexicon are in this one; -1 for those that are not."""
        numbers = self._numbers(other)
        pairs = np.searchsorted(self.pairs, numbers)
        pairs[pairs == len(self.pairs)] = -1
        found = self.pairs[pairs] == numbers if len(self.pairs) else False
        return Places(
            np.where(found, pairs, -1),
            _places(other.source_words, self.source_words),
            _places(other.target_words, self.target_words),
        )

    def generated(self, direction: Direction) -> pa.Array:
        """The words that are generated in a direction."""
        return self.target_words if direction == "forward" else self.source_words

    def given(self, direction: Direction) -> np.ndarray:
        """The word of each pair that generates the other."""
        return self.words_of_pairs()[BOTH.index(direction)]

    def words_of_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """The source and the target word of each pair."""
        sources, targets = np.divmod(self.pairs, max(1, len(self.target_words)))
        return sources, targets

    def _numbers(self, other: Lexicon) -> np.ndarray:
        """The numbers that another lexicon's pairs have here; -1 where a word is unknown."""
        sources, targets = other.words_of_pairs()
        sources = _places(other.source_words, self.source_words)[sources]
        targets = _places(other.target_words, self.target_words)[targets]
        return np.where((sources < 0) | (targets < 0), -1, sources * len(self.target_words) + targets)


class Places(NamedTuple):
    """For each pair, source word and target word of one lexicon, its place in another."""

    pairs: np.ndarray
    source_words: np.ndarray
    target_words: np.ndarray

    def generated(self, direction: Direction) -> np.ndarray:
        """Those of the words that are generated in a direction."""
        return self.target_words if direction == "forward" else self.source_words


@dataclass(frozen=True)
class Bucket:
    """Sentence pairs that have equally many words on the side that generates, those first that have most on the other.

    For each place of the generated side, one after the other, an array over words holds the words that its pairs have
    there, (k,), and an array over cells these words beside all that generate, (given, k). As k never rises, the pairs
    that a place has are the first of those that the place before it has.
    """

    pairs: np.ndarray
    """Which of the sentence pairs of the Bitext."""
    given: int
    """Words of the side that generates."""
    lengths: np.ndarray
    """Words of the side that is generated, for each pair."""
    ends: np.ndarray
    """Where the words of each place end, counted from the first of the bucket."""
    start: int
    """Where its words begin in an array over words."""
    cell: int
    """Where its cells begin in an array over cells."""

    @property
    def words(self) -> slice:
        """Its part of an array over words."""
        return slice(self.start, self.start + int(self.ends[-1]))

    @property
    def cells(self) -> slice:
        """Its part of an array over cells."""
        return slice(self.cell, self.cell + self.given * int(self.ends[-1]))

    def words_by_place(self, words: np.ndarray) -> list[np.ndarray]:
        """Views of its part of an array over words, (k,) for each place."""
        ends = self.ends.tolist()
        return [words[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    def cells_by_place(self, cells: np.ndarray) -> list[np.ndarray]:
        """Views of its part of an array over cells, (given, k) for each place."""
        ends = (self.ends * self.given).tolist()
        return [cells[start:end].reshape(self.given, -1) for start, end in zip([0, *ends], ends, strict=False)]


@dataclass(frozen=True)
class Bitext:
    """Sentence pairs in buckets of each direction, so that many are computed at once.

    A cell is a source and a target word of one sentence pair. Pairs of which a side is empty are left out.
    """

    rows: np.ndarray
    """Which of the rows that were encoded have words on both sides, (pairs,)."""
    lengths: np.ndarray
    """Source and target words of each pair, (pairs, 2)."""
    source: np.ndarray
    """The numbers of the words that are generated in reverse, in the order of its buckets."""
    target: np.ndarray
    """Of those that are generated forward."""
    cells: np.ndarray
    """The place of each cell's words among `Lexicon.pairs`, in the order of the forward buckets."""
    turned: np.ndarray
    """The forward place of each cell, in the order of the reverse buckets."""

    def buckets(self, direction: Direction) -> list[Bucket]:
        """All pairs, in a direction."""
        return _buckets(*(self.lengths.T if direction == "forward" else self.lengths.T[::-1]))

    def generated(self, direction: Direction) -> np.ndarray:
        """The words that are generated in a direction."""
        return self.target if direction == "forward" else self.source

    def forward_cells(self, cells: np.ndarray, direction: Direction) -> np.ndarray:
        """An array over the cells of a direction in the order of the forward buckets."""
        if direction == "forward":
            return cells
        forward = np.empty_like(cells)
        forward[self.turned] = cells
        return forward

    def cells_of(self, forward: np.ndarray, direction: Direction) -> np.ndarray:
        """An array over forward cells in the order of a direction's."""
        return forward if direction == "forward" else forward.take(self.turned)

    def write(self, folder: Folder, name: str) -> None:
        """Keep it in a file, uncompressed: it is read in every iteration."""
        buffer = io.BytesIO()
        for part in fields(self):
            np.save(buffer, getattr(self, part.name))
        folder.write(name, buffer.getvalue())

    @classmethod
    def read(cls, folder: Folder, name: str) -> Bitext:
        """What `write` kept."""
        buffer = io.BytesIO(folder.read(name))
        return cls(*(np.load(buffer) for _ in fields(cls)))


def encode(sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]) -> tuple[Bitext, Lexicon]:
    """Sentence pairs, each side a list of words, as arrays; case is ignored.

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
        given = source[source_starts[bucket.pairs] + np.arange(bucket.given)[:, None]] * np.int64(len(target_words))
        words = bucket.words_by_place(generated[bucket.words])
        for block, word in zip(bucket.cells_by_place(numbers[bucket.cells]), words, strict=True):
            np.add(given[:, : len(word)], word, out=block)
    pairs, cells = _distinct_numbers(numbers)
    bitext = Bitext(rows, lengths, _words(reverse, source, source_starts), generated, cells, _turned(forward, reverse))
    return bitext, Lexicon(source_words, target_words, pairs)


def _buckets(given: np.ndarray, generated: np.ndarray) -> list[Bucket]:
    """The buckets of pairs with these numbers of words."""
    order = np.lexsort((-generated, given))
    parts = np.split(order, np.flatnonzero(np.diff(given[order])) + 1) if len(order) else []
    buckets, start, cell = [], 0, 0
    for pairs in parts:
        lengths = generated[pairs]
        ends = np.cumsum(len(pairs) - np.cumsum(np.bincount(lengths))[:-1])
        buckets.append(Bucket(pairs, int(given[pairs[0]]), lengths, ends, start, cell))
        start, cell = buckets[-1].words.stop, buckets[-1].cells.stop
    return buckets


def _words(buckets: Sequence[Bucket], words: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The words of the generated side, whose sentences begin at `starts`, in the order of the buckets."""
    ordered = np.empty(sum(int(bucket.ends[-1]) for bucket in buckets), np.int32)
    for bucket in buckets:
        first = starts[bucket.pairs]
        for place, block in enumerate(bucket.words_by_place(ordered[bucket.words])):
            block[:] = words[first[: len(block)] + place]
    return ordered


def _turned(forward: Sequence[Bucket], reverse: Sequence[Bucket]) -> np.ndarray:
    """The forward place of each cell, in the order of the reverse buckets."""
    pairs = sum(len(bucket.pairs) for bucket in forward)
    first, rank = np.empty(pairs, np.int64), np.empty(pairs, np.int64)  # of a pair: its bucket's first place, its own k
    starts, strides, places = [], [], 0
    for bucket in forward:
        first[bucket.pairs], rank[bucket.pairs] = places, np.arange(len(bucket.pairs))
        strides.append(np.diff(bucket.ends, prepend=0))
        starts.append(bucket.cell + bucket.given * (bucket.ends - strides[-1]))
        places += len(bucket.ends)
    start, stride = _joined(starts, np.int64), _joined(strides, np.int64)
    turned = np.empty(sum(bucket.given * int(bucket.ends[-1]) for bucket in reverse), np.int32)
    for bucket in reverse:
        place = first[bucket.pairs] + np.arange(bucket.given)[:, None]
        begin, step = start[place] + rank[bucket.pairs], stride[place]
        for row, block in enumerate(bucket.cells_by_place(turned[bucket.cells])):
            k = block.shape[1]
            block[:] = begin[:, :k] + row * step[:, :k]
    return turned


def _side(sentences: Sequence[Sequence[str]]) -> tuple[pa.Array, np.ndarray, np.ndarray]:
    """Distinct words, the number of every word one after the other, the lengths of the sentences."""
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
    """The distinct values, sorted, and the place of every value among them (int32)."""
    encoded = values.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary)
    place = np.empty(len(order), np.int32)
    place[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
    return encoded.dictionary.take(order), place[encoded.indices.to_numpy()]


def _distinct_numbers(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct numbers, sorted, and the place of every number among them (int32)."""
    bits = len(numbers).bit_length()
    if int(numbers.max(initial=0)).bit_length() + bits > 63:
        distinct, places = np.unique(numbers, return_inverse=True)
        return distinct, places.astype(np.int32)
    # A number and where it stands sorted as one: several times as fast as hashing, or as sorting the places.
    keys = numbers << bits
    keys |= np.arange(len(numbers), dtype=np.int32)
    keys.sort()
    order = keys & ((1 << bits) - 1)
    keys >>= bits
    new = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    places = np.empty(len(keys), np.int32)
    places[order] = np.cumsum(new, dtype=np.int32) - 1
    return keys[new], places


def _joined(arrays: Sequence[np.ndarray], kind: type) -> np.ndarray:
    return np.concatenate([array.ravel() for array in arrays]) if arrays else np.zeros(0, kind)


def _distinct(arrays: Iterator[pa.Array]) -> pa.Array:
    values = pa.chunked_array(arrays, pa.string()).unique()
    return values.take(pc.sort_indices(values))


def _places(values: pa.Array, among: pa.Array) -> np.ndarray:
    """The place of each value in another array, -1 where it is not in it."""
    return pc.index_in(values, value_set=among).fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
