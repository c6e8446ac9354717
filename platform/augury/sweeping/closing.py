"""Finish the best trials while the budget of a sweep lasts."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal

from augury.sweeping.state import Point, TrialKey

MARGIN = 1.3
"""How much longer a training is expected to take than it took so far: others run beside it."""


class Closing:
    """Chooses what to finish before a deadline.

    A race decides halfway through training, with all configurations at hand, so that a budget can
    end while the reference alone is finished: nothing could be compared. Before that happens, the
    best trials, as many as run at once, train to their end in place of all others. It is
    of use until a configuration other than the reference has finished.
    """

    def __init__(
        self,
        reference: str,
        deadline: float,
        factor: Callable[[str], float],
        mode: Literal["max", "min"],
    ):
        """`factor` is the estimated training time of a configuration as a multiple of the
        reference's; `deadline` is of the monotonic clock."""
        self.reference, self.deadline = reference, deadline
        self.factor, self.mode = factor, mode
        self._chosen: list[TrialKey] = []

    def trials(
        self,
        curves: Mapping[TrialKey, Sequence[Point]],
        finished: Collection[TrialKey],
        at_once: int,
    ) -> list[TrialKey]:
        """Return the trials to finish now, the best first; none while there is time for others.

        `curves` are those of trials that may go on and of `finished` ones, which are of the
        reference.
        """
        if not self._chosen:
            chosen = self._best([key for key in curves if key not in finished], curves)[:at_once]
            remaining = [self._remaining(key, curves, finished) for key in chosen]
            if remaining and time.monotonic() + MARGIN * max(remaining) >= self.deadline:
                self._chosen = chosen
        return self._chosen

    def _best(
        self, keys: Sequence[TrialKey], curves: Mapping[TrialKey, Sequence[Point]]
    ) -> list[TrialKey]:
        """Return a trial of each configuration but the reference, best first, by the validations
        that all of them have had."""
        by_name: dict[str, TrialKey] = {}
        for key in keys:
            known = by_name.get(key.configuration)
            if key.configuration != self.reference and (
                known is None or len(curves[key]) > len(curves[known])
            ):
                by_name[key.configuration] = key
        common = min((len(curves[key]) for key in by_name.values()), default=0)
        sign = 1 if self.mode == "max" else -1

        def value(key: TrialKey) -> float:
            values = [sign * point.value for point in curves[key][:common]]
            return max(filter(math.isfinite, values), default=-math.inf)

        return sorted(by_name.values(), key=value, reverse=True)

    def _remaining(
        self,
        key: TrialKey,
        curves: Mapping[TrialKey, Sequence[Point]],
        finished: Collection[TrialKey],
    ) -> float:
        """Return the seconds that a trial still takes; 0 before the reference has finished."""
        its = [curves[other][-1].seconds for other in finished if curves.get(other)]
        if not its:
            return 0.0
        return max(0.0, self.factor(key.configuration) * max(its) - curves[key][-1].seconds)
