"""Naive multi-source training on enciphered sources (CipherDAug, equations 1 and 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from augury import regimes
from augury.core.citations import CIPHERDAUG, Paper
from augury.core.errors import UserError
from augury.regimes.regime import SOURCE, TARGET, VIEWS, Draw, Losses, Progress, Regime, ViewModel


class MultiSource(Regime):
    """Cross-entropy over the concatenation of the plain and the enciphered sources, each pair with weight 1."""

    name: Literal["multi_source"] = "multi_source"
    equation: Annotated[Literal[1, 2], VIEWS] = 1
    """1: every view predicts the target; 2: enciphered views also predict the plain source."""

    def papers(self) -> tuple[Paper, ...]:
        return (CIPHERDAUG,)

    def draws(self, keys: Sequence[str]) -> list[Draw]:
        if not keys:
            raise UserError(
                "regime multi_source reads views and there are none: add an operator that makes them to augment, as "
                "{operator: cipher, keys: [1, 2]} or {operator: bpe_dropout, use: view} on translation, or on sentence "
                "pairs {operator: eda, use: view} (reorder and draws have use: view too)"
            )
        draws = [Draw((view,), TARGET) for view in (SOURCE, *keys)]
        return draws + ([Draw((key,), SOURCE) for key in keys] if self.equation == 2 else [])

    def loss(self, model: ViewModel, batch: Any, progress: Progress) -> Losses:
        return regimes.cross_entropy(model.rows(batch, [0]), self.label_smoothing)


REGIME = MultiSource
