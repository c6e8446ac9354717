"""WordDrop: tokens become the unknown symbol, anew in every epoch (CipherDAug, table 2)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from augury.augment.draw import CountedDraw, Symbols


class WordDrop(CountedDraw):
    """Replace tokens by the unknown symbol, anew in every epoch."""

    operator: Literal["word_drop"] = "word_drop"

    def replacements(self, ids: np.ndarray, keys: np.ndarray, epoch: int, symbols: Symbols) -> int:
        return symbols.unknown


OPERATOR = WordDrop
