"""Resampled test sets: what systems would score on other draws of sentences, from sufficient statistics, not from text.

The draws are those of sacreBLEU's paired bootstrap, to the bit, for the same seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from augury.core.errors import UserError

Value = Callable[[Sequence[float]], float]
"""Summed statistics to a score."""

SAMPLES = 1000
SEED = 12345  # sacreBLEU's
BLOCK = 2**21  # numbers of a block of draws, 16 MiB


@dataclass(frozen=True)
class Resampled:
    """The scores of one system, seed by seed, on a test set and on resampled test sets.

    Made with an equal number of sentences, samples and an equal random seed, two systems have the same sentences in
    the same sample, so that their samples are paired.
    """

    scores: NDArray[np.float64]
    """On the test set itself, shape (seeds,)."""
    samples: NDArray[np.float64]
    """Shape (samples, seeds); the seeds have the same sentences in the same sample."""
    statistics: tuple[NDArray[Any], ...]
    """What they come from, of every seed, shape (sentences, counts)."""

    @property
    def value(self) -> float:
        """The mean over seeds."""
        return float(self.scores.mean())

    @property
    def seeds(self) -> int:
        """The number of seeds."""
        return len(self.scores)


def resample(
    statistics: Sequence[NDArray[Any]], value: Value, *, samples: int = SAMPLES, seed: int = SEED
) -> Resampled:
    """Score a system on resampled test sets, each as large as the test set and drawn from it with replacement.

    `statistics` has an array of shape (sentences, counts) for every seed; `value` turns their sums into a score.
    UserError for less than one sample.
    """
    if samples < 1:
        raise UserError(f"{samples} bootstrap samples: give at least 1, usually {SAMPLES}")
    assert len({table.shape for table in statistics}) == 1, "seeds are scored on the same sentences by one metric"
    # In floating point sums of integers are exact below 2^53 and many times faster than in integers.
    table = np.hstack(statistics).astype(np.float64)
    sums = np.concatenate([times @ table for times in draws(len(table), samples, seed)])
    of_seeds = len(statistics)
    whole, drawn = scores(table.sum(0, keepdims=True), value, of_seeds)[0], scores(sums, value, of_seeds)
    return Resampled(whole, drawn, tuple(statistics))


def scores(sums: NDArray[np.float64], value: Value, systems: int = 1) -> NDArray[np.float64]:
    """The scores of summed statistics, shape (samples, systems x counts), in which systems lie side by side."""
    rows = sums.reshape(len(sums), systems, -1).tolist()
    return np.array([[value(counts) for counts in row] for row in rows])


def draws(sentences: int, samples: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """How often every sentence is drawn, in blocks of shape (some of the samples, sentences)."""
    assert sentences, "there is nothing to resample"
    random = np.random.default_rng(seed)
    block = max(1, BLOCK // sentences)
    for first in range(0, samples, block):
        rows = min(block, samples - first)
        drawn = random.choice(sentences, size=(rows, sentences)) + sentences * np.arange(rows)[:, None]
        times = np.bincount(drawn.ravel(), minlength=rows * sentences)
        yield times.reshape(rows, sentences).astype(np.float64)
