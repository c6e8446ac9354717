"""BPE-dropout (Provilkov et al. 2020): random resegmentation of rows of ids."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from augury.core.rng import fold_in, unit_interval
from augury.text.pieces.sentencepieces import merges
from augury.text.pieces.settings import SPACE

_BITS = 20
"""Of a position in a row."""
_NO_MERGE = (2**63 - 1, 0, 0)
"""The end of the table of merges."""


class Resegmenter:
    """Resegments rows of vocabulary ids by the merges of a BPE model, some of which are dropped at
    random.

    As in sentencepiece, a merge that was dropped is considered again only when one of its pieces
    has changed. The code of Provilkov et al. considers it again after any other merge, and thus
    keeps more words whole. Sentencepiece is not used, because its samples with a given seed differ
    between processes.
    """

    def __init__(self, pieces: Sequence[str], learned: Sequence[str]):
        """`pieces` are those of the vocabulary by id, `learned` those of the model by priority,
        characters included.

        Other pieces are never split, and words end there.
        """
        ids = {piece: index for index, piece in enumerate(pieces)}
        splittable = set(learned)
        characters = [
            [ids[letter] for letter in piece] if piece in splittable else [index]
            for index, piece in enumerate(pieces)
        ]
        self._lengths = np.array([len(row) for row in characters])
        self._offsets = np.cumsum(self._lengths) - self._lengths
        self._characters = np.fromiter(chain.from_iterable(characters), np.int64)
        self._whole = np.array([piece not in splittable for piece in pieces])
        self._starts_word = self._whole | np.array([piece.startswith(SPACE) for piece in pieces])
        self._size = len(pieces)
        table = [_NO_MERGE]
        for rank, (left, right) in enumerate(merges(learned)):
            table.append((ids[left] * self._size + ids[right], rank, ids[left + right]))
        self._pairs, self._ranks, self._merged = np.array(sorted(table), np.int64).T.copy()

    def rows(
        self, rows: Sequence[np.ndarray], dropout: float, keys: np.ndarray
    ) -> list[np.ndarray]:
        """Resegment rows of ids, dropping each merge with probability `dropout`: 0 for none, 1 for
        single characters.

        The result for a row depends on its ids and its key only, with `keys` (rows,) uint64.
        """
        if not len(rows):
            return []
        ids = np.concatenate(rows).astype(np.int64)
        # The characters of the pieces, and the row of each.
        lengths = self._lengths[ids]
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        symbols = self._characters[np.repeat(self._offsets[ids], lengths) + within]
        row = np.repeat(np.arange(len(rows)), [len(of_row) for of_row in rows]).repeat(lengths)
        begins_row = np.diff(row, prepend=-1) > 0
        begins_word = begins_row | self._starts_word[symbols] | np.roll(self._whole[symbols], 1)
        word = np.cumsum(begins_word) - 1
        position = np.arange(len(symbols)) - np.flatnonzero(begins_row)[np.cumsum(begins_row) - 1]
        assert len(symbols) < 1 << _BITS or position.max() < 1 << _BITS

        # Whether a symbol starts there: merged into, the left one has both.
        exists = np.ones(len(symbols), bool)
        active = np.arange(len(symbols))  # symbols of words that may have a further merge
        while len(active):
            left, right = active[:-1], active[1:]
            same = word[left] == word[right]
            left, right = left[same], right[same]
            pairs = symbols[left] * self._size + symbols[right]
            merge = np.searchsorted(self._pairs, pairs)
            known = self._pairs[merge] == pairs
            left, right, merge = left[known], right[known], merge[known]
            end = position[right] + self._lengths[symbols[right]]
            span = (position[left] << 2 * _BITS) | (position[right] << _BITS) | end
            kept = unit_interval(fold_in(keys[row[left]], span)) >= dropout
            left, right, merge = left[kept], right[kept], merge[kept]
            first = _first_by_word(word[left], self._ranks[merge])
            symbols[left[first]] = self._merged[merge[first]]
            exists[right[first]] = False
            changed = np.zeros(word[-1] + 1, bool)
            changed[word[left]] = True
            active = active[exists[active] & changed[word[active]]]
        counts = np.bincount(row[exists], minlength=len(rows))
        return np.split(symbols[exists].astype(np.int32), np.cumsum(counts)[:-1])


def _first_by_word(word: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """Return the index of the lowest rank of each word, and of these the leftmost; `word` is
    sorted."""
    if not len(word):
        return np.empty(0, np.int64)
    starts = np.flatnonzero(np.diff(word, prepend=-1))
    return np.minimum.reduceat(rank * len(word) + np.arange(len(word)), starts) % len(word)
