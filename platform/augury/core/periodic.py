"""Calls repeated in the background while something else runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def every(seconds: float, do: Callable[[], object], name: str) -> Iterator[None]:
    """Call `do` every so many seconds on a thread of its own while the block runs; the block waits for the last one."""
    stop = threading.Event()

    def repeat() -> None:
        while not stop.wait(seconds):
            do()

    thread = threading.Thread(target=repeat, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


class Throttle:
    """Does something when it is due again: after `seconds`, or later if it would take more than `share` of the time."""

    def __init__(self, seconds: float, share: float = 0.05):
        self.seconds, self.share = seconds, share
        self._due = 0.0

    @property
    def due(self) -> bool:
        """Return whether it is time."""
        return time.monotonic() >= self._due

    def do(self, work: Callable[[], object]) -> None:
        """Do `work` if it is due, and note how long it took."""
        if not self.due:
            return
        began = time.monotonic()
        try:
            work()
        finally:
            took = time.monotonic() - began
            self._due = began + max(self.seconds, took / self.share)
