"""Repeat requests to remote storages that fail for a while."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import TypeVar

from augury.core.messages import say_once

T = TypeVar("T")

OUTAGE_SECONDS = 60.0
FIRST_WAIT = 0.05
"""Seconds until the first repetition; they double with every further one."""
SAID_AFTER = 0.5
"""Seconds between repetitions from which on it is said that a request is repeated."""
_DENIED = re.compile(r"AWS Error ACCESS_DENIED|\bPERMISSION_DENIED\b")
_MISSING = re.compile(r"AWS Error NO_SUCH_")
"""Errors of object stores, as pyarrow words them."""


def is_denied(error: BaseException) -> bool:
    """Return whether a remote storage does not allow a request with the credentials here."""
    return isinstance(error, OSError) and bool(_DENIED.search(str(error)))


def retried(request: Callable[[], T]) -> T:
    """Return the result of a request, repeated for a minute where it fails.

    pyarrow repeats most requests itself, but not a small read that is answered by the page of an
    error. What is missing or not allowed, and errors of this machine's disk, which have a number,
    are raised at once.
    """
    end, wait = time.monotonic() + OUTAGE_SECONDS, FIRST_WAIT
    while True:
        try:
            return request()
        except OSError as error:
            missing = isinstance(error, FileNotFoundError) or _MISSING.search(str(error))
            final = missing or is_denied(error) or error.errno is not None
            if final or time.monotonic() + wait > end:
                raise
            if wait > SAID_AFTER:
                say_once(
                    "warning: the storage fails, and requests are repeated for up to a minute: "
                    f"{str(error).splitlines()[0]}"
                )
        time.sleep(wait)
        wait *= 2
