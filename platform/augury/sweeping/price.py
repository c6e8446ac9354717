"""Quality against time: a configuration that takes longer has to be better by its price.

The price is in points of the metric: `worth` for each doubling of the training time. Times are
estimates, known before the first trial, so that the same scores lead to the same decisions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import Literal

from augury.sweeping.dispatcher import Scheduler
from augury.sweeping.race import RungDecision, Work


def price(factor: float, worth: float) -> float:
    """Return the points that a training of `factor` times the reference's time has to bring; below
    0 where it is shorter."""
    return worth * math.log2(factor)


def net(value: float, price: float, mode: Literal["max", "min"]) -> float:
    """Return a value of the metric less the price of its configuration."""
    return value - price if mode == "max" else value + price


class Priced:
    """A scheduler that decides on values less their prices; its decisions show the values."""

    def __init__(self, scheduler: Scheduler, price_of: Callable[[str], float]):
        self.scheduler, self.price_of, self.mode = scheduler, price_of, scheduler.mode

    @property
    def decisions(self) -> list[RungDecision]:
        """Return the decisions in values of the metric, and the cut as the configuration's own."""
        return [self._with_price(decision) for decision in self.scheduler.decisions]

    @property
    def eliminated(self) -> Collection[str]:
        """Return the configurations that are not trained any further."""
        return self.scheduler.eliminated

    @property
    def finished(self) -> bool:
        """Return whether nothing is left to train."""
        return self.scheduler.finished

    def work(self) -> list[Work]:
        """Return what can be trained now, most urgent first."""
        return self.scheduler.work()

    def tell(self, configuration: str, seed: int, rung: int, value: float) -> None:
        """Record the value of a configuration with a seed at a rung."""
        paid = net(value, self.price_of(configuration), self.mode)
        self.scheduler.tell(configuration, seed, rung, paid)

    def fail(self, configuration: str, seed: int) -> None:
        """Record that a configuration cannot be trained further with a seed."""
        self.scheduler.fail(configuration, seed)

    def _with_price(self, decision: RungDecision) -> RungDecision:
        paid = -self.price_of(decision.configuration)
        return decision._replace(
            mean=net(decision.mean, paid, self.mode),
            low=net(decision.low, paid, self.mode),
            high=net(decision.high, paid, self.mode),
            cut=net(decision.cut, paid, self.mode),
        )
