"""A process of the local executor: `python -m augury.sweeping.worker CONNECTION TASK...`

It reads trials and the answers to their reports from the connection, a file descriptor, and ends
with the command that holds its other end, however that ends.
"""

from __future__ import annotations

import gc
import os
import queue
import signal
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from augury.core import messages
from augury.sweeping import trial as trials


class _Ended(BaseException):
    """The trial is paused or stopped."""


def main(number: int) -> None:
    """Run the trials that arrive until the connection is closed."""
    # A shell lets commands in its background ignore Ctrl-C, and their processes inherit that. The
    # command answers SIGTERM for all its processes.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    connection = Connection(number)
    received: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, received), daemon=True).start()

    def report(metrics: dict[str, Any]) -> None:
        connection.send(metrics)
        if received.get() != "CONTINUE":
            raise _Ended

    with messages.shown():
        while True:
            key, settings = received.get()
            try:
                trials.run(key, settings, report)
            except _Ended:
                continue
            connection.send(None)


def load(tasks: Iterable[str]) -> None:
    """Import what the trials of tasks use, which takes seconds."""
    gc.disable()  # what is imported stays: to look for garbage among it takes a sixth of the time
    import augury.experiments.evaluate
    import augury.experiments.training
    import augury.training.launch  # noqa: F401
    from augury.experiments.capabilities import Preloads
    from augury.experiments.task import find_task

    with suppress(Exception):  # a trial says it
        for task in map(find_task, tasks):
            if isinstance(task, Preloads):
                task.preload()
    # Memory is released between trials, which would look through all of these objects every time.
    gc.collect()
    gc.freeze()
    gc.enable()


def run(number: int) -> None:
    """Call `main`, and end this process as an interrupted one after Ctrl-C."""
    try:
        main(number)
    except KeyboardInterrupt:  # its trial has saved its state
        sys.exit(128 + signal.SIGINT)


def _receive(connection: Connection, received: queue.SimpleQueue[Any]) -> None:
    """Receive messages; end this process where the command has ended."""
    try:
        while True:
            received.put(connection.recv())
    except (EOFError, OSError):
        os._exit(0)


if __name__ == "__main__":
    load(sys.argv[2:])
    run(int(sys.argv[1]))
