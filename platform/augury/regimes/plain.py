"""The plain regime: label-smoothed cross-entropy of the source as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from augury import regimes
from augury.regimes.regime import SOURCE, TARGET, Draw, Losses, Progress, Regime, ViewModel


class Plain(Regime):
    """Every example once; a row is divided by the number of rows."""

    name: Literal["plain"] = "plain"

    def draws(self, keys: Sequence[str]) -> list[Draw]:
        return [Draw((SOURCE,), TARGET)]

    def loss(self, model: ViewModel, batch: Any, progress: Progress) -> Losses:
        return regimes.cross_entropy(model.rows(batch, [0]), self.label_smoothing)


REGIME = Plain
