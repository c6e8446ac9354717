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


def test_one_that_is_far_ahead_has_it_all_whichever_way_is_better() -> None:
    systems = [system([0.2, 0.21], 1), system([0.9, 0.91], 2), system([0.5, 0.51], 3)]
    assert probability_best(systems) == pytest.approx([0, 1, 0], abs=0.01)
    assert probability_best(systems, lower_is_better=True) == pytest.approx([1, 0, 0], abs=0.01)


@pytest.mark.parametrize(("count", "seeds"), [(2, 3), (6, 2), (12, 3)])
def test_it_is_calibrated(count: int, seeds: int) -> None:
    """Where scores differ by noise as much as by truth, those that are said to be the best with
    probability p are the best in about p of the cases."""
    random = np.random.default_rng(7)
    said, right = [], []
    for _ in range(200):
        truth = random.normal(30, 0.5, count)
        table = []
        for value in truth:
            scores = value + random.normal(0, 0.5, seeds)
            table.append(Resampled(scores, scores + random.normal(0, 0.1, (50, seeds)), ()))
        chance = probability_best(table)
        assert chance is not None
        said.append(chance.max())
        right.append(chance.argmax() == truth.argmax())
    assert np.mean(said) == pytest.approx(np.mean(right), abs=0.08)


def test_single_seeds_say_nothing() -> None:
    assert probability_best([system([0.2], 1), system([0.9], 2)]) is None
    some = probability_best([system([0.2, 0.21], 1), system([0.9], 2)])
    assert some is not None and some[1] > 0.95
