"""Quality against time: a configuration that takes longer has to be better by its price.

The price is in points of the metric: `worth` for each doubling of the training time. Times are
estimates, known before the first trial, so that the same scores lead to the same decisions.
Schedulers are told values less the price; what they decide is shown in values of the metric.
"""

from __future__ import annotations

import math
from typing import Literal


def price(factor: float, worth: float) -> float:
    """Return the points that a training of `factor` times the reference's time has to bring; below
    0 where it is shorter."""
    return worth * math.log2(factor)


def net(value: float, price: float, mode: Literal["max", "min"]) -> float:
    """Return a value of the metric less the price of its configuration."""
    return value - price if mode == "max" else value + price
