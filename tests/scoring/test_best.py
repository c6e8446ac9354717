"""Probabilities to be the best."""

from __future__ import annotations

import numpy as np
import pytest

from augury.scoring.best import probability_best
from augury.scoring.bootstrap import Resampled, resample


def accuracy(sums: np.ndarray) -> float:
    return 100 * sums[0] / sums[1]


def system(rates: list[float], seed: int, sentences: int = 400) -> Resampled:
    """Return a system with one training seed for each rate of correct answers."""
    random = np.random.default_rng(seed)
    tables = []
    for rate in rates:
        correct = random.random(sentences) < rate
        tables.append(np.stack([correct, np.ones(sentences)], 1))
    return resample(tables, accuracy, samples=200)


def test_equal_systems_share_it() -> None:
    same = system([0.5, 0.6], 1)
    assert probability_best([same, same]) == pytest.approx([0.5, 0.5], abs=0.03)


def test_one_that_is_far_ahead_has_it_all_whichever_way_is_better() -> None:
    systems = [system([0.2, 0.21], 1), system([0.9, 0.91], 2), system([0.5, 0.51], 3)]
    assert probability_best(systems) == pytest.approx([0, 1, 0], abs=0.01)
    assert probability_best(systems, lower_is_better=True) == pytest.approx([1, 0, 0], abs=0.01)


def test_noise_between_seeds_makes_the_leader_less_certain() -> None:
    steady = [system([0.60, 0.60], 1), system([0.66, 0.66], 2)]
    noisy = [system([0.50, 0.70], 1), system([0.56, 0.76], 2)]
    assert probability_best(noisy)[1] < probability_best(steady)[1]


def test_it_is_calibrated() -> None:
    """Of pairs that differ by chance alone, the one that is said to be better with probability p
    is better in about p of the cases."""
    random = np.random.default_rng(7)
    said, right = [], []
    for number in range(60):
        rates = random.normal(0.6, 0.03, 2)
        pair = [
            system([*(rate + random.normal(0, 0.02, 3))], 100 * number + side)
            for side, rate in enumerate(rates)
        ]
        chance = probability_best(pair)
        said.append(chance.max())
        right.append(chance.argmax() == rates.argmax())
    assert np.mean(said) == pytest.approx(np.mean(right), abs=0.12)
