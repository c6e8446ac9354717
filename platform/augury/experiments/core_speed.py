"""How fast a core of this machine computes, for estimates of what a training costs.

It is measured once a day and kept with the user's settings, so that estimates of one day are alike
and most commands need no NumPy.
"""

from __future__ import annotations

import functools
import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from augury.core.home import state_directory
from augury.core.rng import digest

PRODUCT_SHARE = 0.4
"""What small models reach of the speed of products of matrices in the cache: 0.4 to 0.6 were
measured of larger ones, which are 1.38 times slower."""
PRODUCTS, PRODUCT_SIZE, PRODUCT_REPEATS = 64, 48, 40
KEPT_SECONDS = 24 * 3600.0


@functools.cache
def core_flops() -> float:
    """Return the FLOP/s that small models reach on a core of this machine, as it was measured at
    most a day ago on this model of processor."""
    return kept(_file(), _measured)


def kept(file: Path, measure: Callable[[], float]) -> float:
    """Return the number in a file unless it is older than a day or none; else measure it, and
    write it where that is possible."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        content = json.loads(file.read_text(encoding="utf-8"))
        if 0 <= time.time() - content["time"] < KEPT_SECONDS and content["flops"] > 0:
            return float(content["flops"])
    flops = measure()
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary = file.with_name(f"{file.name}-{os.getpid()}")
        temporary.write_text(json.dumps({"flops": flops, "time": time.time()}), encoding="utf-8")
        temporary.replace(file)
    return flops


def _file() -> Path:
    """Return the file of this processor: machines of a cluster share home directories."""
    return state_directory() / f"core-speed-{digest(_processor(), size=8).hex()}.json"


def _processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> list[str]:
    """Return what Linux tells of the first core, but for what changes all the time."""
    lines: list[str] = []
    with suppress(OSError), cpuinfo.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            if not line.strip():
                break
            lines.append(line)
    return [line for line in lines if "MHz" not in line]


def _measured() -> float:
    """Return the speed by the best of some products of matrices, which took 10 ms.

    Cores differ by a factor of five. The products are so small that they run on one core, and
    processor time is the same on a busy machine.
    """
    import numpy as np

    stack = np.ones((PRODUCTS, PRODUCT_SIZE, PRODUCT_SIZE), np.float32)
    product = np.empty_like(stack)  # memory that is new each time takes longer than the products
    seconds = []
    for _ in range(PRODUCT_REPEATS):
        start = time.thread_time()
        np.matmul(stack, stack[0], out=product)
        seconds.append(time.thread_time() - start)
    return PRODUCT_SHARE * 2 * PRODUCTS * PRODUCT_SIZE**3 / min(seconds)
