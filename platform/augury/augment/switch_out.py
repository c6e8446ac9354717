"""SwitchOut: tokens become other subwords, anew in every epoch (Wang et al. 2018)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from augury.augment.draw import CountedDraw, Symbols
from augury.core.rng import fold_in, uniform

REPLACEMENTS = 1
"""The random stream that chooses replacements; another one chooses the tokens that change."""


class PieceDraw(CountedDraw):
    """A draw that replaces tokens by uniformly drawn subwords of the whole vocabulary, also of the
    other language and of enciphered text, as released with CipherDAug."""

    def replacements(
        self, ids: np.ndarray, keys: np.ndarray, epoch: int, symbols: Symbols
    ) -> np.ndarray:
        # A piece becomes any other one; an id that is none of them, such as one that another draw
        # has made, any of them. They are sorted.
        pieces = symbols.ordinary
        places = np.searchsorted(pieces, ids) % len(pieces)
        itself = (pieces[places] == ids).astype(np.int64)
        numbers = uniform(fold_in(keys, REPLACEMENTS), epoch, ids.shape[1])
        steps = itself + np.floor(numbers * (len(pieces) - itself)).astype(np.int64)
        return np.asarray(pieces[(places + steps) % len(pieces)])


class SwitchOut(PieceDraw):
    """Replace tokens by uniformly drawn pieces of the vocabulary, anew in every epoch."""

    operator: Literal["switch_out"] = "switch_out"


OPERATOR = SwitchOut
