"""What a process has of its machine: cores, memory and a working directory."""

from __future__ import annotations

import ctypes
import functools
import gc
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
QUOTA = Path("/sys/fs/cgroup/cpu.max")


def available_cores(quota: Path = QUOTA) -> int:
    """Return how many cores this process may use, at least 1.

    Schedulers such as Slurm bind a process to some cores (its affinity), and containers limit its
    processor time (`cpu.max` of control groups, version 2: microseconds in a period, or `max`).
    With a thread for every core of the machine it would be many times slower.
    """
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    try:
        limit, period = quota.read_text(encoding="utf-8").split()
    except (OSError, ValueError):
        return cores
    return cores if limit == "max" else max(1, min(cores, round(int(limit) / int(period))))


def release_memory() -> None:
    """Free what only cycles refer to, and return free memory to the system.

    A model that was trained is part of cycles, which Python does not look for because a few objects
    hold all of its memory; and the C library keeps what it has freed, per thread.
    """
    gc.collect()
    with suppress(OSError, AttributeError):  # of glibc only
        ctypes.CDLL(None).malloc_trim(0)


def in_this_directory(call: Callable[P, R]) -> Callable[P, R]:
    """Return a call that works in the present working directory, in whatever process.

    Ray moves trials and workers into directories of its own, where the relative paths that a user
    wrote lead nowhere. A machine that has no such directory stays where it is.
    """
    directory = os.getcwd()

    @functools.wraps(call)
    def inside(*args: P.args, **kwargs: P.kwargs) -> R:
        if os.path.isdir(directory):
            os.chdir(directory)
        return call(*args, **kwargs)

    return inside
