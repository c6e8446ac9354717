"""WordDrop: tokens become the unknown symbol, anew in every pass (a baseline of CipherDAug, table 2)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from augury.augment.draw import CountedDraw, Symbols
from augury.core.citations import CIPHERDAUG, Paper


class WordDrop(CountedDraw):
    """Replace tokens by the unknown symbol, anew in every pass."""

    operator: Literal["word_drop"] = "word_drop"

    def papers(self) -> tuple[Paper, ...]:
        return (CIPHERDAUG,)

    def draw(
        self, ids: np.ndarray, replaceable: np.ndarray, keys: np.ndarray, pass_number: int, symbols: Symbols
    ) -> np.ndarray:
        return np.where(self.choose_tokens(replaceable, keys, pass_number), symbols.unknown, ids)


OPERATOR = WordDrop
