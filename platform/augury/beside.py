"""Something done now and then beside something else."""

from __future__ import annotations

import threading
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
