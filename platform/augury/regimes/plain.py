"""The plain regime: label-smoothed cross-entropy of the source as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from augury.regimes.objective import view_objective
from augury.regimes.regime import SOURCE, TARGET, Draw, Losses, Progress, Regime, Rows, ViewModel


class Plain(Regime):
    """Every example once; a row is divided by the number of rows."""

    name: Literal["plain"] = "plain"

    def draws(self, keys: Sequence[str]) -> list[Draw]:
        return [Draw((SOURCE,), TARGET)]

    def loss(self, model: ViewModel, batch: Any, progress: Progress) -> Losses:
        return cross_entropy(model.rows(batch, [0]), self.label_smoothing)


def cross_entropy(rows: Rows, label_smoothing: float) -> Losses:
    """Label-smoothed cross-entropy of one view, summed over rows; the divisor is the number of rows."""
    terms = view_objective(
        rows.hidden, rows.weight, rows.bias, rows.labels, weights=[1.0], label_smoothing=label_smoothing
    )
    count = rows.labels.numel()
    return Losses(terms.total, float(count), count, {"nll": terms.nll[0], "correct": terms.correct[0]})


REGIME = Plain
