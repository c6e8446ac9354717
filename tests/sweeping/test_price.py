"""Decisions on values less the price of training time."""

from __future__ import annotations

from typing import Literal

import pytest

from augury.sweeping.price import Priced, net, price
from augury.sweeping.race import Exhaustive


def test_each_doubling_of_the_time_costs_as_much() -> None:
    assert [price(factor, 0.1) for factor in (0.5, 1, 2, 8)] == pytest.approx([-0.1, 0, 0.1, 0.3])


def test_a_price_lowers_what_is_better_when_high_and_raises_a_loss() -> None:
    assert net(30.0, 0.2, "max") == 29.8
    assert net(1.0, 0.2, "min") == 1.2


@pytest.mark.parametrize(
    ("mode", "slow", "chosen"),
    [("max", 30.15, "quick"), ("max", 30.25, "slow"), ("min", 29.85, "quick")]
    + [("min", 29.75, "slow")],
)
def test_what_takes_four_times_as_long_has_to_be_better_by_two_tenths(
    mode: Literal["max", "min"], slow: float, chosen: str
) -> None:
    """And the decision shows values of the metric."""
    scheduler = Exhaustive(["quick", "slow"], [1], [None], mode=mode)
    priced = Priced(scheduler, {"quick": 0.0, "slow": price(4, 0.1)}.__getitem__)
    values = {"quick": 30.0, "slow": slow}
    for name, value in values.items():
        priced.tell(name, 1, 0, value)
    assert (priced.finished, scheduler.best) == (True, chosen)
    (decision,) = priced.decisions
    assert decision.mean == pytest.approx(values[chosen])
