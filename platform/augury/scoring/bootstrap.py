"""Bootstrap resampling of test sets (Koehn, 2004) from sentence statistics.

For the same seed, samples are exactly those of sacreBLEU's paired bootstrap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Value = Callable[[Sequence[float]], float]
"""Maps summed statistics to a score."""

SAMPLES = 1000
SEED = 12345  # sacreBLEU's
BLOCK = 2**21  # elements of a block of counts, 16 MiB


@dataclass(frozen=True)
class Resampled:
    """The scores of a system for each training seed, on a test set and on bootstrap samples of it.

    Systems resampled with the same random seed, number of sentences and number of samples are
    paired: their i-th samples have the same sentences.
    """

    scores: npt.NDArray[np.float64]
    """Scores on the test set, shape (seeds,)."""
    samples: npt.NDArray[np.float64]
    """Scores on the bootstrap samples, which are the same for all seeds, shape (samples, seeds)."""
    statistics: tuple[npt.NDArray[Any], ...]
    """Sentence statistics of each seed, shape (sentences, counts)."""
    examples: int = 0
    """Of scores of right and wrong labels, from 0 to 100: the number of examples of which one
    exception changes the score by 1 / examples at most; 0 for others."""

    @property
    def value(self) -> float:
        """The mean score over seeds."""
        return float(self.scores.mean())

    @property
    def seeds(self) -> int:
        """The number of seeds."""
        return len(self.scores)


def resample(
    statistics: Sequence[npt.NDArray[Any]],
    value: Value,
    *,
    samples: int = SAMPLES,
    examples: int = 0,
) -> Resampled:
    """Score a system on bootstrap samples, each as large as the test set, drawn with replacement.

    `statistics` has an array (sentences, counts) for each seed; `value` maps their sums to a score;
    `examples` are those of `Resampled`.
    """
    assert len({table.shape for table in statistics}) == 1, (
        "all seeds need the same sentences and the same metric"
    )
    # Floating-point sums of integers are exact below 2^53, and matrix products much faster than
    # with integers.
    table = np.hstack(statistics).astype(np.float64)
    sums = np.concatenate([counts @ table for counts in resample_counts(len(table), samples, SEED)])
    seeds = len(statistics)
    return Resampled(
        scores(table.sum(0, keepdims=True), value, seeds)[0],
        scores(sums, value, seeds),
        tuple(statistics),
        examples,
    )


def scores(
    sums: npt.NDArray[np.float64], value: Value, systems: int = 1
) -> npt.NDArray[np.float64]:
    """Return the scores (samples, systems) of summed statistics (samples, systems x counts)."""
    rows = sums.reshape(len(sums), systems, -1).tolist()
    return np.array([list(map(value, row)) for row in rows])


def resample_counts(sentences: int, samples: int, seed: int) -> Iterator[npt.NDArray[np.float64]]:
    """Yield how often each sentence is in each sample, in blocks (samples, sentences)."""
    assert sentences, "there is nothing to resample"
    random = np.random.default_rng(seed)
    block = max(1, BLOCK // sentences)
    for first in range(0, samples, block):
        rows = min(block, samples - first)
        drawn = (
            random.choice(sentences, size=(rows, sentences)) + sentences * np.arange(rows)[:, None]
        )
        counts = np.bincount(drawn.ravel(), minlength=rows * sentences)
        yield counts.reshape(rows, sentences).astype(np.float64)
