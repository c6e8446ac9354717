"""Calls on threads: periodic ones, rate limits, and those that run ahead."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from augury.core.parallel import map_ahead
from augury.core.periodic import run_every


def test_a_call_that_fails_does_not_end_the_calls(caplog: pytest.LogCaptureFixture) -> None:
    calls, repeated = [], threading.Event()

    def fail() -> None:
        calls.append(1)
        if len(calls) > 1:
            repeated.set()
        raise OSError("the network is down")

    caplog.set_level("INFO", "augury")
    with run_every(0.01, fail, name="lease"):
        assert repeated.wait(10)
    assert sum("the network is down" in message for message in caplog.messages) == 1


def test_results_come_in_order_and_few_wait() -> None:
    begun, most, used = 0, 0, 0

    def items() -> Iterator[int]:
        nonlocal begun, most
        for item in range(50):
            begun += 1
            most = max(most, begun - used)
            yield item

    results = []
    for result in map_ahead(lambda item: time.sleep(0.002 * (item % 3)) or item, items(), 3):
        used += 1
        results.append(result)
    assert results == list(range(50)) and most <= 4
