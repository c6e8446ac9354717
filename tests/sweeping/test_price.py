"""The price of training time in points of a metric."""

from __future__ import annotations

import pytest

from augury.sweeping.price import net, price


def test_each_doubling_of_the_time_costs_as_much() -> None:
    assert [price(factor, 0.1) for factor in (0.5, 1, 2, 8)] == pytest.approx([-0.1, 0, 0.1, 0.3])


def test_a_price_lowers_what_is_better_when_high_and_raises_a_loss() -> None:
    assert net(30.0, 0.2, "max") == 29.8
    assert net(1.0, 0.2, "min") == 1.2
