"""BPE-dropout: text is segmented anew in every epoch (Provilkov et al. 2020)."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from augury.augment.draw import NO_TOKEN, Symbols, TokenDraw
from augury.core.rng import fold_in
from augury.training.batching import padded


class BpeDropout(TokenDraw):
    """Segment words into other subwords in every epoch; the text stays the same (Provilkov et al.
    2020).

    Held-out text is segmented as usual, and so is a row that would have more than max_pieces.
    """

    operator: Literal["bpe_dropout"] = "bpe_dropout"
    dropout: float = Field(0.1, ge=0, le=1)
    """Probability of skipping a merge (p, sentencepiece's alpha): at 0 nothing changes, at 1 all
    subwords are characters."""

    VERSION: ClassVar[int] = 3
    RESEGMENTS: ClassVar[bool] = True

    def draw(
        self,
        ids: np.ndarray,
        replaceable: np.ndarray,
        keys: np.ndarray,
        epoch: int,
        symbols: Symbols,
    ) -> np.ndarray:
        assert symbols.resegmenter is not None, "experiments of other tasks are refused"
        rows = [row[row != NO_TOKEN] for row in ids]
        return padded(
            symbols.resegmenter(symbols.text).rows(rows, self.dropout, fold_in(keys, epoch)),
            NO_TOKEN,
        )


OPERATOR = BpeDropout
