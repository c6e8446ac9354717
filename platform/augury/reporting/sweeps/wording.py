"""How a sweep's numbers are written for people."""

from __future__ import annotations

from augury.reporting.sweeps.summary import Standing
from augury.reporting.table import MISSING
from augury.scoring.metrics import title
from augury.sweeping.state import Decision


def measured(metric: str) -> str:
    """The sweep's metric: `validation BLEU` for `valid/bleu`."""
    return f"validation {title(metric.rpartition('/')[2])}"


def reached(standing: Standing) -> str:
    """What a configuration reached in validation: `31.2 [30.8, 31.6] (3 seeds)`."""
    if standing.mean is None:
        return MISSING
    return f"{between(standing.mean, standing.low, standing.high)} ({seeds(len(standing.values))})"


def spread(standing: Standing) -> str:
    """The mean over seeds with its standard deviation: `31.2 ± 0.4`."""
    if standing.mean is None or standing.deviation is None:
        return written(standing.mean)
    return f"{written(standing.mean)} ± {written(standing.deviation, like=standing.mean)}"


def between(mean: float, low: float | None, high: float | None) -> str:
    """A mean with its interval where there is one: `31.2 [30.8, 31.6]`."""
    if low is None or high is None:
        return written(mean)
    return f"{written(mean)} [{written(low, like=mean)}, {written(high, like=mean)}]"


def written(value: float | None, like: float | None = None) -> str:
    """A number with as many decimals as one of the size of `like` needs: one for scores of 31.2, more for losses."""
    if value is None:
        return MISSING
    size = abs(value if like is None else like)
    return f"{value:.{1 if size >= 10 else 2 if size >= 1 else 3}f}"


def seeds(count: int) -> str:
    """`1 seed`, `3 seeds`."""
    return f"{count} seed{'' if count == 1 else 's'}"


def stands_at(decision: Decision) -> str:
    """Where the rung of a decision stands."""
    if decision.validations is None:
        return "at the end of training"
    return f"after {decision.validations} validation{'' if decision.validations == 1 else 's'}"
