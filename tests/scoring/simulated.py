"""Scores of systems with known components of their variance, as the mean of a number for each
sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from augury.core.rng import generator
from augury.scoring.bootstrap import SEED, Resampled, resample_counts


def mean(sums: Sequence[float]) -> float:
    """Return the mean from the sum of numbers and their count."""
    return sums[0] / sums[1]


def numbers(*key: str | int, n: int = 400) -> np.ndarray:
    """Return statistics whose score, under `mean`, is a mean of `n` numbers between 0 and 99."""
    return np.column_stack([generator(*key).integers(100, size=n), np.ones(n, dtype=int)])


def given_scores(scores: Any, samples: Any) -> Resampled:
    """Return a system with these scores, (seeds,), and scores on bootstrap samples, (samples,
    seeds)."""
    return Resampled(np.array(scores, dtype=float), np.array(samples, dtype=float), ())


def without_sentences(scores: Any, samples: int = 100) -> Resampled:
    """Return a system whose seeds have these scores on every sentence."""
    return given_scores(scores, np.tile(scores, (samples, 1)))


def of_sentences(table: np.ndarray, samples: int = 200) -> Resampled:
    """Return a system with these numbers, (seeds, sentences)."""
    times = np.concatenate(list(resample_counts(table.shape[1], samples, SEED)))
    return Resampled(table.mean(1), times @ table.T / table.shape[1], ())


def systems(
    *key: str | int,
    seeds: Sequence[int],
    sentences: int,
    noise: float,
    seed_and_sentence: float = 0.5,
    system_and_sentence: float = 0.3,
    samples: int = 200,
) -> list[Resampled]:
    """Return systems with these numbers of seeds; all others are standard deviations."""
    random = generator(*key)
    difficulty = random.normal(size=sentences)
    return [
        of_sentences(
            difficulty
            + noise * random.normal(size=(count, 1))
            + system_and_sentence * random.normal(size=sentences)
            + seed_and_sentence * random.normal(size=(count, sentences)),
            samples,
        )
        for count in seeds
    ]
