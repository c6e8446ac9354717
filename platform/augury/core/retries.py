"""Repeat requests to remote storages that fail for a while."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

OUTAGE_SECONDS = 60.0
FIRST_WAIT = 0.05
"""Seconds until the first repetition; they double with every further one."""


def retried(request: Callable[[], T]) -> T:
    """Return the result of a request, repeated for a minute where it fails.

    pyarrow repeats most requests itself, but not a small read that is answered by the page of an
    error. What is missing, and errors of this machine's disk, which have a number, are raised at
    once.
    """
    end, wait = time.monotonic() + OUTAGE_SECONDS, FIRST_WAIT
    while True:
        try:
            return request()
        except OSError as error:
            missing = isinstance(error, FileNotFoundError)
            if missing or error.errno is not None or time.monotonic() + wait > end:
                raise
        time.sleep(wait)
        wait *= 2
