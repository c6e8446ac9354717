"""The contract of a draw: token ids of a batch in, others out, anew in every epoch."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field, model_validator

from augury.augment.operator import BlockFunction, Form, Operator
from augury.core.errors import UserError
from augury.core.rng import uniform
from augury.core.store import Store

if TYPE_CHECKING:
    from augury.text.pieces.resegmentation import Resegmenter

NO_TOKEN = -1
"""The padding of rows of token ids."""
Side = Literal["source", "target", "both"]


class Symbols(NamedTuple):
    """The vocabulary of draws: the unknown symbol, and the ids of ordinary subwords, in order.

    `text` is the side or view whose rows are drawn. `resegmenter` returns the object that segments
    a side or view anew; None where the vocabulary was not learned here
    (`augury.text.pieces.vocabulary`).
    """

    unknown: int
    ordinary: np.ndarray
    resegmenter: Callable[[str], Resegmenter] | None = None
    text: str = "source"


class TokenDraw(Operator):
    """Parameters of a draw from the token ids of a batch."""

    side: Side = "source"
    """Side whose tokens change; a changed target is both the input of the decoder and the labels.
    """
    use: Literal["text", "view"] = "text"
    """text: tokens change wherever the side is read, in every view independently; view: the changed
    source is a further view of the example, for regimes that read views."""
    seed: int = 1
    """Seed of the random choices, which depend on the seed of the run too."""
    VERSION: ClassVar[int] = 2
    RESEGMENTS: ClassVar[bool] = False
    """Whether the draw segments text anew, which not every task's vocabulary can."""

    @model_validator(mode="after")
    def _views_are_of_the_source(self) -> TokenDraw:
        if self.use == "view" and self.side != "source":
            raise UserError(
                f"use view makes a view of the source, not of side={self.side}: set side=source"
            )
        return self

    def reads(self, columns: Sequence[str]) -> tuple[str, ...]:
        return ("id",) if self.side == "source" else ("id", "target")

    def makes(self) -> Form:
        return "draw"

    def bind(self, fitted: Mapping[str, Any], store: Store) -> BlockFunction:
        raise AssertionError("a draw makes no text")

    @abstractmethod
    def draw(
        self,
        ids: np.ndarray,
        replaceable: np.ndarray,
        keys: np.ndarray,
        epoch: int,
        symbols: Symbols,
    ) -> np.ndarray:
        """Return the token ids (rows, any length) of `ids` (rows, length) in epoch `epoch`.

        Both are padded with NO_TOKEN. `replaceable` (rows, length) is False at pads and special
        symbols, which stay; `keys` (rows,) identify records. What a row becomes depends only on its
        own tokens, its key and the epoch.
        """


class CountedDraw(TokenDraw):
    """A draw of how many tokens of a sentence change, and then of which (Wang et al. 2018).

    Of L tokens, each changes with probability n / L, where P(n) ~ exp(-λ n), 0 ≤ n ≤ L.
    """

    tau: float = Field(0.9, gt=0)
    """λ, as in the code released with CipherDAug and in OpenNMT: the larger, the fewer tokens
    change (Wang et al. call 1 / λ the temperature τ)."""

    @abstractmethod
    def replacements(
        self, ids: np.ndarray, keys: np.ndarray, epoch: int, symbols: Symbols
    ) -> np.ndarray | int:
        """Return what every id, (rows, length), becomes if it changes, or the one id that all
        become."""

    def draw(
        self,
        ids: np.ndarray,
        replaceable: np.ndarray,
        keys: np.ndarray,
        epoch: int,
        symbols: Symbols,
    ) -> np.ndarray:
        numbers = uniform(keys, epoch, replaceable.shape[1] + 1)
        lengths = replaceable.sum(1)
        counts = _truncated_geometric(numbers[:, 0], self.tau, lengths)
        positions = np.where(replaceable, numbers[:, 1:], np.inf)
        chosen = positions < (counts / np.maximum(lengths, 1))[:, None]
        return np.where(chosen, self.replacements(ids, keys, epoch, symbols), ids)


def _truncated_geometric(numbers: np.ndarray, rate: float, most: np.ndarray) -> np.ndarray:
    """Map numbers in [0, 1) to counts from 0 to `most` with P(n) ~ exp(-rate n), by the inverse
    distribution."""
    tail = -np.expm1(-rate * (most + 1))
    return np.minimum(np.floor(np.log1p(-numbers * tail) / -rate), most)
