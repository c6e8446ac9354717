"""Calls on threads: periodic ones, and those that run ahead."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from augury.core.messages import say_once

T = TypeVar("T")
R = TypeVar("R")
SHARE = 0.2
"""The share of the time that periodic calls take at most."""


@contextmanager
def run_every(seconds: float, function: Callable[[], object], name: str) -> Iterator[None]:
    """Call `function` every `seconds`, less often if it takes long, on a thread called `name` while
    the block runs.

    Exit waits for a running call.

    An exception is logged, and the next call is made when it is due.
    """
    stop = threading.Event()

    def repeat() -> None:
        pause = seconds
        while not stop.wait(pause):
            start = time.monotonic()
            try:
                function()
            except Exception as error:
                say_once(f"{name}: {type(error).__name__}: {error}; repeated every {seconds:g} s")
            pause = max(seconds, (time.monotonic() - start) / SHARE)

    thread = threading.Thread(target=repeat, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def map_ahead(function: Callable[[T], R], items: Iterable[T], threads: int) -> Iterator[R]:
    """Yield the results of a function in order, computed on threads while earlier ones are used.

    At most `threads` + 1 results wait in memory. Once the iterator is closed or has raised, no call
    is running.
    """
    waiting: deque[Future[R]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
