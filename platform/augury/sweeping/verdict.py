"""What a race recommends and when it says that a system helps: functions of scores."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Literal

from augury.scoring.significance import LEVEL, Difference


def recommends(
    reference: Sequence[float], chosen: Sequence[float], *, mode: Literal["max", "min"]
) -> bool:
    """Return whether the system that won the race is recommended in place of the reference.

    Both have validation scores by seed; those of the winner are of seeds that did not choose it.
    """
    difference = statistics.fmean(chosen) - statistics.fmean(reference)
    return difference > 0 if mode == "max" else difference < 0


def helps(difference: Difference, *, lower_is_better: bool) -> bool:
    """Return whether a difference to the reference, of a test that is made once, says that a system
    helps."""
    better = difference.value < 0 if lower_is_better else difference.value > 0
    return better and difference.p_value < 1 - LEVEL
