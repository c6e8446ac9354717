"""Multi-source training on plain and enciphered sources (CipherDAug, equations 1 and 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from augury import regimes
from augury.core.citations import CIPHERDAUG, Paper
from augury.regimes.regime import SOURCE, TARGET, VIEWS, Losses, Progress, Regime, ViewGroup, ViewModel, no_views


class MultiSource(Regime):
    """Cross-entropy over the concatenation of plain and enciphered sources, with equal weights."""

    name: Literal["multi_source"] = "multi_source"
    equation: Annotated[Literal[1, 2], VIEWS] = 1
    """1: all views predict the target; 2: enciphered views also predict the plain source."""

    def papers(self) -> tuple[Paper, ...]:
        return (CIPHERDAUG,)

    def view_groups(self, keys: Sequence[str]) -> list[ViewGroup]:
        if not keys:
            raise no_views(self.name)
        groups = [ViewGroup((view,), TARGET) for view in (SOURCE, *keys)]
        return groups + ([ViewGroup((key,), SOURCE) for key in keys] if self.equation == 2 else [])

    def loss(self, model: ViewModel, batch: Any, progress: Progress) -> Losses:
        return regimes.cross_entropy(model.rows(batch, [0]), self.label_smoothing)


REGIME = MultiSource
