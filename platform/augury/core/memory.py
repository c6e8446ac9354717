"""Give memory back between pieces of work of one process."""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress


def release_memory() -> None:
    """Free what only cycles refer to, and return free memory to the system.

    A model that was trained is part of cycles, which Python does not look for because a few objects
    hold all of its memory; and the C library keeps what it has freed, per thread.
    """
    gc.collect()
    with suppress(OSError, AttributeError):  # of glibc only
        ctypes.CDLL(None).malloc_trim(0)
