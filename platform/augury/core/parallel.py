"""Concurrent calls on threads, for work that is done in other processes."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


def run_concurrently(
    calls: Sequence[Callable[[], T]], limit: int
) -> Iterator[tuple[int, T | Exception]]:
    """Run `calls`, at most `limit` at a time.

    Yield the index and the result or exception of each as it finishes.

    Once the iterator is closed, no further call begins. Threads are daemons rather than a pool's,
    which would delay an interrupt until all running calls have finished. An interrupt within a
    call, where Ray raises it, is raised here.
    """
    pending: queue.SimpleQueue[int] = queue.SimpleQueue()
    finished: queue.SimpleQueue[tuple[int, T | BaseException]] = queue.SimpleQueue()
    for index in range(len(calls)):
        pending.put(index)

    def work() -> None:
        while True:
            try:
                index = pending.get_nowait()
            except queue.Empty:
                return
            try:
                finished.put((index, calls[index]()))
            except Exception as error:
                finished.put((index, error))
            except BaseException as error:
                finished.put((index, error))
                return

    for _ in range(min(limit, len(calls))):
        threading.Thread(target=work, daemon=True).start()
    try:
        for _ in calls:
            while True:  # a blocking get would not be interruptible
                with suppress(queue.Empty):
                    index, result = finished.get(timeout=1.0)
                    break
            if isinstance(result, BaseException) and not isinstance(result, Exception):
                raise result
            yield index, result
    finally:
        with suppress(queue.Empty):
            while True:
                pending.get_nowait()


def run_on_lasting_thread(call: Callable[[], T]) -> T:
    """Run `call` on a thread that ends with the process; return its result or raise its exception.

    For calls that start processes which are to end with this one: Linux kills them when the thread
    that started them ends (PR_SET_PDEATHSIG). The main thread lasts, too.
    """
    if threading.current_thread() is threading.main_thread():
        return call()
    future: Future[T] = Future()

    def work() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)
        threading.Event().wait()

    threading.Thread(target=work, name="lasting", daemon=True).start()
    return future.result()
