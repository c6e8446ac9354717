"""Calls on threads: periodic ones, rate limits, and those that run ahead."""

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


@contextmanager
def run_every(seconds: float, function: Callable[[], object], name: str) -> Iterator[None]:
    """Call `function` every `seconds` on a thread called `name` while the block runs.

    Exit waits for a running call.

    An exception is logged, and the next call is made when it is due.
    """
    stop = threading.Event()

    def repeat() -> None:
        while not stop.wait(seconds):
            try:
                function()
            except Exception as error:
                say_once(f"{name}: {type(error).__name__}: {error}; repeated every {seconds:g} s")

    thread = threading.Thread(target=repeat, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


class Throttle:
    """Limits calls to one every `seconds`, and to the fraction `share` of the time if they are
    slow."""

    def __init__(self, seconds: float, share: float = 0.05):
        self.seconds, self.share = seconds, share
        self._due = 0.0

    def run(self, function: Callable[[], object]) -> None:
        """Call `function` if a call is due."""
        start = time.monotonic()
        if start < self._due:
            return
        try:
            function()
        finally:
            elapsed = time.monotonic() - start
            self._due = start + max(self.seconds, elapsed / self.share)


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
