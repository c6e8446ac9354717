from __future__ import annotations

import threading
import time

from augury.core.parallel import run_concurrently


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
