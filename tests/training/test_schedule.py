"""The optimizer, its learning rate, and where training ends."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from augury.training.schedule import Patience, adam, learning_rate
from augury.training.settings import Training, without_end

LINEAR = {"schedule": "linear", "learning_rate": 1.0}
CONSTANT = {"schedule": "constant", "max_updates": 40}


@pytest.mark.parametrize(
    ("settings", "updates_per_epoch", "rates"),
    [
        (
            {"learning_rate": 6e-4, "warmup_updates": 8000},
            1000,
            {4000: 3e-4, 8000: 6e-4, 32000: 3e-4},
        ),
        (
            {**LINEAR, "warmup_updates": 10, "max_updates": 110},
            1000,
            {5: 0.5, 10: 1.0, 60: 0.5, 110: 0.0},
        ),
        ({**LINEAR, "warmup_share": 0.1, "max_epochs": 5}, 20, {5: 0.5, 10: 1.0, 55: 0.5, 100: 0}),
        ({**LINEAR, "warmup_share": 0.2, "max_epochs": 5, "max_updates": 50}, 5, {5: 1.0, 25: 0}),
        (
            {**CONSTANT, "learning_rate": 2.0, "warmup_share": 0.25},
            1000,
            {5: 1.0, 10: 2.0, 40: 2.0},
        ),
    ],
)
def test_rates(settings: dict[str, Any], updates_per_epoch: int, rates: dict[int, float]) -> None:
    training = Training.model_validate(settings)
    for update, rate in rates.items():
        expected = pytest.approx(rate, rel=1e-12)
        assert learning_rate(training, update, updates_per_epoch) == expected


def test_patience_ends_after_validations_that_are_no_gain() -> None:
    patience = Patience(3)
    for score in (-10, -5, -9, -8, -5):
        assert not patience.exhausted
        patience.count(score)
    assert patience.exhausted and patience.best == -5


def test_an_epoch_of_the_released_script_is_four_epochs_over_iwslt14() -> None:
    preset = Training.model_validate({"preset": "released_code"})
    pairs, samples, max_tokens = 160_239, 641_000, 5000
    read = preset.validate_every_epochs * pairs
    assert 0 < samples - read < max_tokens / 25  # less than one of its batches
    assert preset.patience * preset.validate_every_epochs == 100
    changed = Training.model_validate({"preset": "released_code", "patience": 3})
    assert changed == preset.model_copy(update={"patience": 3})
    with pytest.raises(ValueError, match="max_epochs or max_updates"):
        Training(max_updates=None)
    with pytest.raises(ValueError, match="unknown preset of training 'papr': did you mean 'paper'"):
        Training.model_validate({"preset": "papr"})


@pytest.mark.trains
def test_decay_of_all_is_that_of_fairseq() -> None:
    """By hand: parameter p becomes p - rate · decay · p - rate · m / (sqrt(v) + ε), with both
    moments unbiased, so that the first step of Adam has the size of the rate."""
    scale = nn.Parameter(torch.tensor([2.0]))
    training = Training(learning_rate=0.1, weight_decay=0.5, decayed="all", adam_eps=1e-8)
    optimizer = adam([scale], training)
    scale.grad = torch.tensor([4.0])
    optimizer.step()
    assert scale.item() == pytest.approx(2 - 0.1 * 0.5 * 2 - 0.1)


def test_a_beginning_that_depends_on_the_end_is_shared_with_no_longer_training() -> None:
    for tied in ({}, {"warmup_share": 0.1}, {"schedule": "linear"}):
        shorter, longer = (Training(max_updates=end, **tied) for end in (100, 200))
        assert (without_end(shorter) == without_end(longer)) == (not tied)
