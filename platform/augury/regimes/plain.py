"""Standard training: label-smoothed cross-entropy of the plain source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from augury.regimes.regime import SOURCE, TARGET, Losses, Progress, Regime, ViewGroup, ViewModel


class Plain(Regime):
    """Each example once per epoch; the loss is averaged over rows."""

    name: Literal["plain"] = "plain"

    def view_groups(self, views: Sequence[str]) -> list[ViewGroup]:
        return [ViewGroup((SOURCE,), TARGET)]

    def loss(self, model: ViewModel, batch: Any, progress: Progress) -> Losses:
        from augury.regimes.objective import cross_entropy  # imports torch, which takes seconds

        return cross_entropy(model.rows(batch, [0]), self.label_smoothing)


REGIME = Plain
