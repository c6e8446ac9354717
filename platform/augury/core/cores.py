"""The cores that this process may use, which on shared machines are fewer than there are."""

from __future__ import annotations

import os
from pathlib import Path

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
