"""SwitchOut: tokens become other pieces of the vocabulary, anew in every pass (Wang et al. 2018)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from augury.augment.draw import CountedDraw, Symbols
from augury.core.citations import SWITCHOUT, Paper
from augury.core.rng import fold_in, uniform

REPLACEMENTS = 1
"""The random stream that chooses replacements; another one chooses the tokens that change."""


class SwitchOut(CountedDraw):
    """Replace tokens by uniformly drawn pieces of the vocabulary, anew in every pass."""

    operator: Literal["switch_out"] = "switch_out"

    def papers(self) -> tuple[Paper, ...]:
        return (SWITCHOUT,)

    def replacements(self, ids: np.ndarray, keys: np.ndarray, pass_number: int, symbols: Symbols) -> np.ndarray:
        return other_pieces(ids, keys, pass_number, symbols.ordinary)


def other_pieces(ids: np.ndarray, keys: np.ndarray, pass_number: int, ordinary: np.ndarray) -> np.ndarray:
    """Return, for every id (rows, length), another of the ordinary ids, drawn uniformly.

    `ordinary` is sorted. The results for ids that are not ordinary are arbitrary ordinary ids.
    """
    places = np.searchsorted(ordinary, ids)
    numbers = uniform(fold_in(keys, REPLACEMENTS), pass_number, ids.shape[1])
    steps = 1 + np.floor(numbers * (len(ordinary) - 1)).astype(np.int64)
    return np.asarray(ordinary[(places + steps) % len(ordinary)])


OPERATOR = SwitchOut
