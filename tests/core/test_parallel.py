from __future__ import annotations

import functools
import threading
import time
from collections.abc import Iterator

import pytest

from augury.core.parallel import map_ahead, run_concurrently


def test_results_and_errors_of_all_calls_come_back() -> None:
    calls = [lambda: 1, lambda: 1 // 0, lambda: 3]
    results = dict(run_concurrently(calls, 2))
    assert (results[0], results[2]) == (1, 3) and isinstance(results[1], ZeroDivisionError)


def test_no_more_run_at_once_than_may() -> None:
    running, most, lock = 0, 0, threading.Lock()

    def call() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        with lock:
            running -= 1

    assert len(list(run_concurrently([call] * 9, 3))) == 9
    assert most == 3


def test_no_call_begins_after_the_iterator_is_closed() -> None:
    begun, release = [], threading.Event()

    def call(number: int) -> int:
        begun.append(number)
        if number:
            release.wait(10)
        return number

    results = run_concurrently([functools.partial(call, number) for number in range(8)], 2)
    next(results)
    results.close()
    release.set()
    time.sleep(0.2)
    assert len(begun) <= 3


def test_an_interrupt_within_a_call_is_raised_and_ends_the_calls() -> None:
    begun = []

    def call(number: int) -> None:
        begun.append(number)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(run_concurrently([functools.partial(call, number) for number in range(3)], 1))
    assert begun == [0]


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


def test_an_error_of_a_call_comes_in_its_place_and_ends_the_others() -> None:
    results = map_ahead(lambda item: 1 // item, [1, 0, *[1] * 50], 2)
    assert next(results) == 1
    with pytest.raises(ZeroDivisionError):
        next(results)
    assert not any("ThreadPool" in thread.name for thread in threading.enumerate())
