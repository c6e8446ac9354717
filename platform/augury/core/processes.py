"""Calls in processes of this machine, which are one pool for all threads of a command and wait some
seconds for its next stage."""

from __future__ import annotations

import atexit
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, as_completed
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from loky.process_executor import ProcessPoolExecutor

T = TypeVar("T")
R = TypeVar("R")

IDLE_SECONDS = 10
# A process that has more to read in a later stage has no leak, for which it would be replaced.
NO_LEAK = {"LOKY_MAX_MEMORY_LEAK_SIZE": "1e15"}


class ProcessesFailed(Exception):
    """What is left cannot be done in processes; says why."""


_pool: ProcessPoolExecutor | None = None
_size = 0
_pool_lock = threading.Lock()


def call_in_processes(
    call: Callable[[T], R], items: Sequence[T], processes: int, environment: Mapping[str, str]
) -> Iterator[tuple[int, R]]:
    """Yield the index and the result of every item as it is done.

    `environment` has variables of the processes, the same for all calls. Raises ProcessesFailed
    where a process dies, as where memory runs out, and where an item cannot be sent. Once the
    iterator is closed or has raised, no further item begins.
    """
    from loky.process_executor import BrokenProcessPool, TerminatedWorkerError

    futures: dict[Future[R], int] = {}
    try:
        with _pool_lock:
            pool = _take(min(processes, len(items)), environment)
            with _interrupts_blocked():
                futures = {pool.submit(call, item): index for index, item in enumerate(items)}
        for future in as_completed(futures):
            yield futures[future], future.result()
    except TerminatedWorkerError as error:
        end_processes()
        codes = re.search(r"(?<=\{).+(?=\})", str(error))
        how = f"{codes[0]}, " if codes else ""
        raise ProcessesFailed(f"a process died ({how}as where memory runs out)") from error
    except BrokenProcessPool as error:
        end_processes()
        raise ProcessesFailed(f"a task cannot be sent to a process ({error.__cause__})") from error
    except (KeyboardInterrupt, SystemExit):
        end_processes()
        raise
    finally:
        for future in futures:
            future.cancel()


@atexit.register  # before the modules are gone that it uses
def end_processes() -> None:
    """End all processes at once, whatever they do; those that a thread starts, too."""
    global _pool
    with _pool_lock:
        pool, _pool = _pool, None
    if pool is not None:
        pool.shutdown(kill_workers=True)


def _take(processes: int, environment: Mapping[str, str]) -> ProcessPoolExecutor:
    """Return the pool; a larger one where it has fewer processes, of which the idle ones end."""
    global _pool, _size
    from multiprocessing import resource_tracker

    from loky.process_executor import ProcessPoolExecutor

    if _pool is None or _size < processes:
        with _quiet_clearing():
            resource_tracker.ensure_running()  # not later: it unblocks Ctrl-C again
            _pool = ProcessPoolExecutor(
                processes,
                timeout=IDLE_SECONDS,
                initializer=_watch,
                initargs=(os.getpid(),),
                env={**environment, **NO_LEAK},
            )
        _size = processes
    return _pool


@contextmanager
def _quiet_clearing() -> Iterator[None]:
    """Let the process that starts in the block, and clears up after a killed command, do so without
    a warning among its messages."""
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, [before, "ignore:resource_tracker"]))
    try:
        yield
    finally:
        del os.environ["PYTHONWARNINGS"]
        if before is not None:
            os.environ["PYTHONWARNINGS"] = before


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Leave Ctrl-C, which reaches all processes of a terminal, to this one: those that start while
    the block runs inherit it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _watch(parent: int) -> None:
    """End this process with the one that started it."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
