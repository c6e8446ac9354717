"""Concurrent calls on threads, for work in other processes, or in libraries that release Python's
lock."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


class InputFailed(Exception):
    """A call was not made, as one that it needs has failed."""


def run_concurrently(
    calls: Sequence[Callable[[], T]], limit: int, inputs: Sequence[Collection[int]] = ()
) -> Generator[tuple[int, T | Exception], None, None]:
    """Run `calls`, at most `limit` at a time, each after the calls that `inputs` has for it.

    Yield the index and the result or exception of each as it finishes; InputFailed where one of its
    inputs has failed. Of calls that can begin the first begins first. With a limit of 1 all run in
    this thread.

    Once the iterator is closed, no further call begins. Threads are daemons rather than a pool's,
    which would delay an interrupt until all running calls have finished. An interrupt within a
    call, where Ray raises it, is raised here.
    """
    finished: queue.SimpleQueue[tuple[int, T | BaseException]] = queue.SimpleQueue()
    waiting, running = dict.fromkeys(range(len(calls))), 0
    succeeded: set[int] = set()
    failed: set[int] = set()

    def work(index: int) -> None:
        try:
            finished.put((index, calls[index]()))
        except BaseException as error:
            finished.put((index, error))

    while waiting or running:
        for index in list(waiting):
            needed = inputs[index] if inputs else ()
            if not failed.isdisjoint(needed):
                del waiting[index]
                failed.add(index)
                yield index, InputFailed()
            elif running < limit and succeeded.issuperset(needed):
                del waiting[index]
                running += 1
                if limit == 1:
                    work(index)
                else:
                    threading.Thread(target=work, args=(index,), daemon=True).start()
        while running:  # a blocking get would not be interruptible
            with suppress(queue.Empty):
                index, result = finished.get(timeout=1.0)
                break
        else:
            continue
        running -= 1
        if isinstance(result, BaseException) and not isinstance(result, Exception):
            raise result
        (failed if isinstance(result, Exception) else succeeded).add(index)
        yield index, result


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
