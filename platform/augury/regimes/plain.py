"""Standard training: label-smoothed cross-entropy of the plain source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from augury.regimes.regime import SOURCE, TARGET, Regime, ViewGroup


class Plain(Regime):
    """Each example once per epoch; the loss is averaged over rows."""

    name: Literal["plain"] = "plain"

    def view_groups(self, views: Sequence[str]) -> list[ViewGroup]:
        return [ViewGroup((SOURCE,), TARGET)]


REGIME = Plain
