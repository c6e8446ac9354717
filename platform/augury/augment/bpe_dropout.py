"""BPE-dropout: words are segmented anew in every pass, some merges left out (Provilkov et al. 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from augury.augment.draw import NO_TOKEN, Symbols, TokenDraw
from augury.core.citations import BPE_DROPOUT, Paper
from augury.core.rng import nested
from augury.text.merges import Word


class BpeDropout(TokenDraw):
    """Segment words into other pieces in every pass; the text stays the same.

    Held-out text has its usual pieces. A row that would come to have more than max_pieces keeps its usual ones in that
    pass.
    """

    operator: Literal["bpe_dropout"] = "bpe_dropout"
    dropout: float = Field(0.1, ge=0, le=1)
    """Probability of skipping a merge (p, sentencepiece's alpha): 0 leaves text as it is, 1 gives single characters."""

    NEEDS_MERGES: ClassVar[bool] = True

    def papers(self) -> tuple[Paper, ...]:
        return (BPE_DROPOUT,)

    def draw(
        self, ids: np.ndarray, replaceable: np.ndarray, keys: np.ndarray, turn: int, symbols: Symbols
    ) -> np.ndarray:
        assert symbols.merges is not None, "experiments of tasks that know no merges are refused"
        merges = symbols.merges(symbols.text)
        rows, columns = np.nonzero(ids != NO_TOKEN)
        tokens = ids[rows, columns]
        known = replaceable[rows, columns] & merges.known[tokens]
        behind_unknown = ~np.concatenate([[False], known[:-1]])  # at other tokens words end
        first = np.flatnonzero(merges.begins[tokens] | ~known | behind_unknown | (columns == 0))
        words = _cut(tokens, first)
        places = np.flatnonzero(known[first])
        word_keys = nested(nested(keys, turn)[rows[first]], columns[first])
        segmented = merges.segmented([words[place] for place in places], self.dropout, word_keys[places])
        for place, word in zip(places.tolist(), segmented, strict=True):
            words[place] = word
        return _joined(words, rows[first], len(ids))


def _cut(tokens: np.ndarray, first: np.ndarray) -> list[Word]:
    """Words, given the places where they begin."""
    of_all = tokens.tolist()
    return [tuple(of_all[start:end]) for start, end in pairwise([*first.tolist(), len(of_all)])]


def _joined(words: Sequence[Word], rows: np.ndarray, count: int) -> np.ndarray:
    """Words one behind the other, each in its row of `count`, as (rows, length), padded with NO_TOKEN."""
    sizes = np.fromiter(map(len, words), np.int64, len(words))
    lengths = np.bincount(rows, sizes, count).astype(np.int64)
    joined = np.full((count, lengths.max(initial=0)), NO_TOKEN)
    joined[np.arange(joined.shape[1]) < lengths[:, None]] = np.fromiter(chain.from_iterable(words), np.int64)
    return joined


OPERATOR = BpeDropout
