"""Calls that run side by side on threads of this process, while their work is done elsewhere."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def side_by_side(calls: Sequence[Callable[[], T]], at_once: int) -> Iterator[tuple[int, T | Exception]]:
    """Run `calls`, at most `at_once` at the same time; yield the position and the result or error of each as it ends.

    The threads do not keep the process alive: an interrupt reaches the caller at once, and what still runs ends with
    the process.
    """
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    ended: queue.SimpleQueue[tuple[int, T | Exception]] = queue.SimpleQueue()
    for position in range(len(calls)):
        waiting.put(position)

    def work() -> None:
        while True:
            try:
                position = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                ended.put((position, calls[position]()))
            except Exception as error:
                ended.put((position, error))

    for _ in range(min(at_once, len(calls))):
        threading.Thread(target=work, daemon=True).start()
    for _ in calls:
        while True:  # with a time-out, so that an interrupt is heard
            try:
                yield ended.get(timeout=1.0)
                break
            except queue.Empty:
                continue
