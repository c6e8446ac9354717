"""The optimizer, its learning rate, and where training ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from augury.training.batching import Lengths
from augury.training.schedule import Patience, adam, last_update, learning_rate, worth
from augury.training.settings import Training, without_end
from tests.training import toy

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
        ({**LINEAR, "warmup_share": 0.1, "max_epochs": 5, "max_updates": 50}, 20, {5: 1.0, 50: 0}),
        ({**LINEAR, "warmup_share": 0.2, "max_epochs": 5, "max_updates": 50}, 5, {5: 1.0, 25: 0}),
        (
            {**CONSTANT, "learning_rate": 2.0, "warmup_share": 0.25},
            1000,
            {5: 1.0, 10: 2.0, 40: 2.0},
        ),
        ({**CONSTANT, "learning_rate": 0.1, "warmup_updates": 0}, 1000, {1: 0.1, 1000: 0.1}),
    ],
)
def test_rates(settings: dict[str, Any], updates_per_epoch: int, rates: dict[int, float]) -> None:
    training = Training.model_validate(settings)
    for update, rate in rates.items():
        expected = pytest.approx(rate, rel=1e-12)
        assert learning_rate(training, update, updates_per_epoch) == expected


def learner(plain: int) -> toy.Toy:
    """100 plain rows of 2 tokens, and as many records of 4, in batches of ten rows."""
    task = toy.Toy()
    lengths = np.repeat([2, 4], 100)
    task.lengths, task.plain_rows = Lengths(lengths, lengths), plain
    return task


def test_budgets_count_the_updates_or_the_tokens_of_plain_text() -> None:
    settings = {"max_examples": 10, "accumulation": 1, "max_tokens": 40, "max_epochs": 3}
    ends = {}
    for unit in ("updates", "tokens"):
        training = toy.TRAINING.model_copy(update={**settings, "equal": unit})
        ends[unit] = last_update(training, *worth(learner(100), training, seed=1, world=1))
        everything = worth(learner(200), training, seed=1, world=1)
        assert everything == pytest.approx((20, 1))
    # 600 tokens are 10 updates an epoch, or 3/6 of 20 updates of 30 tokens each.
    assert ends == {"updates": 30, "tokens": 20}


NOISY = (10, 15, 11, 12, 13, 14, 13, 12, 12, 12, 12)


@pytest.mark.parametrize(
    ("allowed", "mean_of", "scores", "stops_after", "best"),
    [
        (2, 1, (10, 11, 11, 10.9), 4, 11),
        (3, 1, (-10, -9, -9.5, -9.2, -9.1), 5, -9),
        (3, 1, NOISY, 5, 15),  # the second validation, by luck
        (3, 2, NOISY, 9, 13.5),  # means 12.5, 13, 11.5, 12.5, 13.5, 13.5, 12.5, 12
        (3, 3, NOISY, 10, 40 / 3),  # means 12, 12.67, 12, 13, 13.33, 13, 12.33, 12
        (1, 3, (3, 2, 1, 0), 4, 2),  # none counts before the first mean
    ],
)
def test_patience_ends_after_validations_whose_mean_is_no_gain(
    allowed: int, mean_of: int, scores: Sequence[float], stops_after: int, best: float
) -> None:
    patience = Patience(allowed, mean_of)
    for number in range(1, stops_after + 1):
        assert not patience.exhausted
        patience.count(scores[:number])
    assert patience.exhausted
    assert patience.best == pytest.approx(best)


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


def test_a_beginning_that_depends_on_the_end_is_shared_with_no_longer_training() -> None:
    shorter, longer = (Training(warmup_share=0.1, max_updates=updates) for updates in (100, 200))
    assert without_end(shorter) != without_end(longer)
    assert without_end(Training(max_updates=100)) == without_end(Training(max_updates=200))


@pytest.mark.parametrize(
    ("decayed", "expected"), [("matrices", [0.1, 0, 0, 0]), ("all", [0.1] * 4)]
)
def test_the_parameters_asked_for_decay(decayed: Any, expected: list[float]) -> None:
    module = nn.Sequential(nn.Linear(3, 2), nn.LayerNorm(2))
    optimizer = adam(list(module.parameters()), Training(weight_decay=0.1, decayed=decayed))
    decay = {
        id(parameter): group["weight_decay"]
        for group in optimizer.param_groups
        for parameter in group["params"]
    }
    assert [decay[id(parameter)] for parameter in module.parameters()] == expected


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
