"""Periodic background calls, and rate limits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from augury.core.messages import say_once


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

    @property
    def due(self) -> bool:
        """Whether a call is due."""
        return time.monotonic() >= self._due

    def run(self, function: Callable[[], object]) -> None:
        """Call `function` if a call is due."""
        if not self.due:
            return
        start = time.monotonic()
        try:
            function()
        finally:
            elapsed = time.monotonic() - start
            self._due = start + max(self.seconds, elapsed / self.share)
