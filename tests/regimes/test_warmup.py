"""During a warm-up, a regime is bit for bit the one that it says it is."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from augury.regimes import regime
from augury.regimes.regime import Progress, Regime
from tests.regimes.words import Batch, Words, sentences

UPDATES = 3
WITH_WARMUP = [
    {"name": "coregularised", "beta": 5, "warmup_steps": UPDATES},
    {"name": "coregularised", "divergence": "js", "label_smoothing": 0, "warmup_steps": UPDATES},
    {"name": "coregularised", "preset": "released_code", "warmup_steps": UPDATES},
    {"name": "coregularised", "preset": "r_drop", "warmup_epochs": 1.5, "ramp_epochs": 2},
    {"name": "adversarial", "preset": "paper", "warmup_steps": UPDATES},
    {"name": "adversarial", "preset": "snippet", "warmup_epochs": 1.5},
    {"name": "adversarial", "preset": "fgm", "label_smoothing": 0.2, "warmup_steps": UPDATES},
]


class TwoViews(Words):
    """Reads the views of a batch one by one, with dropout."""

    def __init__(self) -> None:
        super().__init__(dropout=0.3)

    def rows(self, batch: Any, views: Any, perturbation: Any = None) -> Any:
        torch.manual_seed(1)
        read = [super(TwoViews, self).rows(batch[view], [0], perturbation) for view in views]
        return read[0]._replace(hidden=torch.cat([rows.hidden for rows in read]))

    def embedded(self, batch: Any, view: int) -> Any:
        return super().embedded(batch[view], 0)


def computed(chosen: Regime, progress: Progress) -> list[bytes]:
    """The loss, its divisor, the metrics and all gradients of a batch."""
    model, first = TwoViews(), sentences(6)
    batch = (first, Batch(sentences(6, seed=1).ids, first.labels))
    losses = chosen.loss(model, batch, progress)
    losses.total.backward()
    gradients = [parameter.grad for parameter in model.module.parameters()]
    tensors = [losses.total, *(losses.metrics[name] for name in sorted(losses.metrics)), *gradients]
    values = [tensor.detach().numpy().tobytes() for tensor in tensors if tensor is not None]
    return [repr((losses.divisor, losses.rows, sorted(losses.metrics))).encode(), *values]


@pytest.mark.parametrize("views", [[], ["rot-1"]])
@pytest.mark.parametrize("settings", WITH_WARMUP)
def test_it_is_another_regime_until_the_warm_up_ends(
    settings: dict[str, Any], views: list[str]
) -> None:
    chosen = regime.parse(settings)
    warmup = chosen.warmup(views)
    assert warmup is not None
    if views or settings["name"] == "adversarial":
        assert warmup.regime.view_groups(views) == chosen.view_groups(views)
    for update in range(UPDATES):
        progress = Progress(update, update / UPDATES)
        assert computed(warmup.regime, progress) == computed(chosen, progress)
    after = Progress(9 * UPDATES, 9)
    assert computed(warmup.regime, after) != computed(chosen, after)
    assert (warmup.updates, warmup.epochs) in ((UPDATES, None), (None, 1))


@pytest.mark.parametrize(
    "settings",
    [
        {"name": "plain"},
        {"name": "coregularised", "warmup_steps": 0},
        {"name": "coregularised", "warmup_steps": 9, "beta": 0},
        {"name": "coregularised", "warmup_epochs": 0.5},
        {"name": "adversarial"},
    ],
)
def test_without_a_warm_up_it_is_no_other(settings: dict[str, Any]) -> None:
    assert regime.parse(settings).warmup(["rot-1"]) is None
