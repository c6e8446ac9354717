"""Numbers of the same sentences as columns of results: a score with its interval, the difference of
two scores, and the sentences where either number is larger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest

from augury.scoring.bootstrap import Resampled, resample
from augury.scoring.significance import compare, interval

Numbers = Sequence[float] | npt.NDArray[Any]
"""A number for every sentence."""


def estimate(scores: Resampled) -> dict[str, float]:
    """Return a score as `value`, with the ends of its 95 % interval as `low` and `high` (percentile
    bootstrap over sentences)."""
    bounds = interval(scores)
    return {"value": scores.value, "low": bounds.low, "high": bounds.high}


def difference(first: Resampled, second: Resampled) -> dict[str, float]:
    """Return the second score minus the first as `difference`, with the ends of its 95 % interval
    and `p` (paired bootstrap over sentences)."""
    test = compare(first, second)
    ends = {"difference_low": test.low, "difference_high": test.high}
    return {"difference": test.value, **ends, "p": test.p_value}


def signs(first: Numbers, second: Numbers) -> dict[str, float]:
    """Return the number of sentences in which the second number is larger as `more`, that of those
    in which it is smaller as `fewer`, and `p_sign`.

    It is the two-sided p-value of the exact sign test over the sentences that differ: for binary
    numbers, McNemar's test.
    """
    gaps = np.asarray(second, np.float64) - np.asarray(first, np.float64)
    more, fewer = int((gaps > 0).sum()), int((gaps < 0).sum())
    p_value = float(binomtest(more, more + fewer).pvalue) if more + fewer else 1.0
    return {"more": more, "fewer": fewer, "p_sign": p_value}


def means(values: Numbers) -> Resampled:
    """Return the mean of a number over sentences as a score."""
    numbers = np.asarray(values, np.float64)
    statistics = np.column_stack([numbers, np.ones(len(numbers))])
    return resample([statistics], lambda sums: sums[0] / sums[1])
