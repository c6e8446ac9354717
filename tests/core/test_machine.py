"""Cores that are limited, memory that is given back, and the working directory of calls."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from augury.core.machine import available_cores


def test_affinity_and_the_quota_of_a_container_limit_cores(tmp_path: Path) -> None:
    quota, before = tmp_path / "cpu.max", os.sched_getaffinity(0)
    for text, cores in (("max 100000\n", len(before)), ("100000 100000\n", 1), ("50000 100000", 1)):
        quota.write_text(text)
        assert available_cores(quota) == cores
    os.sched_setaffinity(0, {min(before)})
    try:
        assert available_cores(tmp_path / "none") == 1
    finally:
        os.sched_setaffinity(0, before)
    assert available_cores(tmp_path / "none") == len(before)


# Blocks below the size that the C library maps by itself, of which the last pins the heap.
FREED = """
import weakref
import psutil
from augury.core.machine import release_memory

class Model:
    pass

model = Model()
model.itself, model.memory = model, [bytes(60_000) for _ in range(2_000)]
reference, last = weakref.ref(model), bytes(60_000)
del model
before = psutil.Process().memory_info().rss
release_memory()
print(reference() is None, (before - psutil.Process().memory_info().rss) / 1e6 > 60)
"""


def test_what_only_a_cycle_refers_to_is_given_back_to_the_system() -> None:
    command = [sys.executable, "-c", FREED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["True", "True"]
