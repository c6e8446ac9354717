"""Calls in processes of this machine, which last from one stage of a command to the next."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from typing import TypeVar

from augury.core.progress import say

T = TypeVar("T")
R = TypeVar("R")

IDLE_SECONDS = 10
"""How long a process waits for the next stage."""


def call_in_processes(
    call: Callable[[T], R], items: Sequence[T], processes: int, environment: Mapping[str, str]
) -> Iterator[tuple[int, R]]:
    """Yield the index and the result of every item as it is done.

    `environment` has variables of the processes. Where one dies, as where memory runs out, the rest
    is done one by one in this process. Once the iterator is closed or has raised, no call is
    running.
    """
    from loky import BrokenProcessPool, get_reusable_executor

    # The process that clears up after a killed command would say so among its messages.
    os.environ.setdefault("PYTHONWARNINGS", "ignore:resource_tracker")
    executor = get_reusable_executor(
        processes,
        timeout=IDLE_SECONDS,
        initializer=_begin,
        initargs=(os.getpid(),),
        env=dict(environment),
    )
    missing = dict(enumerate(items))
    try:
        futures = {executor.submit(call, item): index for index, item in missing.items()}
        for future in as_completed(futures):
            index, result = futures[future], future.result()
            del missing[index]
            yield index, result
    except BrokenProcessPool as error:
        codes = re.search(r"(?<=\{).+(?=\})", str(error))
        how = f"{codes[0]}, " if codes else ""
        say(f"warning: a process died ({how}as where memory runs out): this one does the rest")
    except BaseException:
        executor.shutdown(kill_workers=True)
        raise
    for index, item in missing.items():
        yield index, call(item)


def _begin(parent: int) -> None:
    """Leave Ctrl-C, which reaches all processes of a terminal, to the one that waits, and end with
    it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)
