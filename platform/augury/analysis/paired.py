"""Compare two numbers of the same sentences: the difference of means, and the sentences where
either is larger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest

from augury.scoring.bootstrap import SAMPLES, Resampled, resample
from augury.scoring.significance import Difference, compare, interval


@dataclass(frozen=True)
class Mean:
    """The mean of a number over sentences, with its 95 % interval (percentile bootstrap over
    sentences)."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class PairedDifference(Difference):
    """The difference of two numbers of the same sentences, the second minus the first."""

    more: int = 0
    """The number of sentences in which the second number is larger."""
    fewer: int = 0
    p_sign: float = 1.0
    """Two-sided p-value of the exact sign test over the sentences that differ.

    For binary numbers, McNemar's test.
    """


def mean(values: Sequence[float] | npt.NDArray[Any]) -> Mean:
    """Return the mean of a number over sentences."""
    resampled = _resampled(values)
    bounds = interval(resampled)
    return Mean(resampled.value, bounds.low, bounds.high)


def paired_difference(
    first: Sequence[float] | npt.NDArray[Any], second: Sequence[float] | npt.NDArray[Any]
) -> PairedDifference:
    """Compare two numbers of the same sentences."""
    difference = compare(_resampled(first), _resampled(second))
    gaps = np.asarray(second, np.float64) - np.asarray(first, np.float64)
    more, fewer = int((gaps > 0).sum()), int((gaps < 0).sum())
    p_sign = float(binomtest(more, more + fewer).pvalue) if more + fewer else 1.0
    return PairedDifference(**vars(difference), more=more, fewer=fewer, p_sign=p_sign)


def _resampled(values: Sequence[float] | npt.NDArray[Any]) -> Resampled:
    numbers = np.asarray(values, np.float64)
    return resample(
        [np.column_stack([numbers, np.ones(len(numbers))])],
        lambda sums: sums[0] / sums[1],
        samples=SAMPLES,
    )
