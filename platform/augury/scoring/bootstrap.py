"""Bootstrap over the sentences of a test set, on sufficient statistics rather than on text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from augury.errors import UserError
from augury.rng import generator

Value = Callable[[Sequence[float]], float]


@dataclass(frozen=True)
class Interval:
    """A confidence interval, in the unit of the score."""

    low: float
    high: float


@dataclass(frozen=True)
class Paired:
    """A system against a baseline on the same sentences."""

    difference: float
    """Score of the system minus score of the baseline, on all sentences."""
    interval: Interval
    """Of the difference."""
    wins: float
    """Share of resampled test sets on which the system is better; compare-mt prints 1 - wins as p."""
    losses: float
    """Share on which the baseline is better; what is left are ties."""
    p_value: float
    """Two-sided: how often resampling alone moves the difference by at least `difference`."""


def interval(
    statistics: NDArray[Any],
    score_from_stats: Value,
    *,
    samples: int = 1000,
    ratio: float = 1.0,
    level: float = 0.95,
    seed: int = 12345,
) -> Interval:
    """The percentile bootstrap interval of one system's score (Koehn, 2004).

    `statistics` has shape (sentences, counts); `score_from_stats` takes their sum. Every sample draws
    `ratio` x sentences with replacement: 1.0 estimates the error at the size of the test set, 0.5 mirrors
    compare-mt, whose intervals are wider by a factor of about 1.4. UserError for parameters out of range.
    """
    sums = _resample(statistics, samples=samples, ratio=ratio, seed=seed)
    return _percentiles(np.array([score_from_stats(row) for row in sums.tolist()]), level)


def paired(
    baseline: NDArray[Any],
    system: NDArray[Any],
    score_from_stats: Value,
    *,
    samples: int = 1000,
    ratio: float = 1.0,
    level: float = 0.95,
    seed: int = 12345,
) -> Paired:
    """The paired bootstrap test of two systems' `statistics`; parameters and errors as in `interval`.

    The p-value is that of the null hypothesis of no difference, its distribution taken from the resampled
    differences shifted to mean 0 (Riezler and Maxwell, 2005). It looks both ways; the bootstrap p-values of
    sacreBLEU and compare-mt look towards the better system only and are about half of it. It is never below
    1 / (samples + 1).
    """
    assert baseline.shape == system.shape, "systems must be scored on the same sentences by the same metric"
    counts = system.shape[1]
    # One table with both systems side by side, so that both get the same sentences in every sample.
    sums = _resample(np.hstack([system, baseline]), samples=samples, ratio=ratio, seed=seed)
    differences = np.array([score_from_stats(row[:counts]) - score_from_stats(row[counts:]) for row in sums.tolist()])
    difference = score_from_stats(system.sum(0).tolist()) - score_from_stats(baseline.sum(0).tolist())
    as_far = np.abs(differences - differences.mean()) >= abs(difference)
    return Paired(
        difference=difference,
        interval=_percentiles(differences, level),
        wins=float((differences > 0).mean()),
        losses=float((differences < 0).mean()),
        p_value=float((1 + as_far.sum()) / (1 + samples)),
    )


def _resample(statistics: NDArray[Any], *, samples: int, ratio: float, seed: int) -> NDArray[np.float64]:
    """Sums of statistics over resampled sentences, shape (samples, counts)."""
    if samples < 1:
        raise UserError(f"{samples} bootstrap samples: give at least 1, usually 1000")
    if not 0 < ratio <= 1:
        raise UserError(f"a bootstrap ratio of {ratio}: give a share of the test set, above 0 and at most 1")
    sentences = len(statistics)
    assert sentences, "there is nothing to resample"
    drawn = max(1, round(ratio * sentences))
    random = generator(seed, "bootstrap")
    # In floating point sums of integers are exact below 2^53 and many times faster than in integers.
    table = statistics.astype(np.float64)
    sums = np.empty((samples, table.shape[1]))
    for row in sums:
        times_drawn = np.bincount(random.integers(sentences, size=drawn), minlength=sentences)
        row[:] = times_drawn @ table
    return sums


def _percentiles(scores: NDArray[np.float64], level: float) -> Interval:
    if not 0 < level < 1:
        raise UserError(f"a confidence level of {level}: give a share between 0 and 1, usually 0.95")
    low, high = np.quantile(scores, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))
