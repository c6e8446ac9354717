"""Multi-source training on the plain source and its views (CipherDAug, equations 1 and 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from augury.regimes.regime import SOURCE, TARGET, Regime, ViewGroup, no_views


class MultiSource(Regime):
    """Cross-entropy over the plain sources and all their views, with equal weights."""

    name: Literal["multi_source"] = "multi_source"
    equation: Literal[1, 2] = 1
    """1: all views predict the target; 2: the other views also predict the plain source."""

    def view_groups(self, views: Sequence[str]) -> list[ViewGroup]:
        if not views:
            raise no_views(self.name)
        groups = [ViewGroup((view,), TARGET) for view in (SOURCE, *views)]
        if self.equation == 2:
            groups += [ViewGroup((view,), SOURCE) for view in views]
        return groups


REGIME = MultiSource
