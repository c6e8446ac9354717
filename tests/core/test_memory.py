from __future__ import annotations

import subprocess
import sys

# Blocks below the size that the C library maps by itself, of which the last pins the heap.
FREED = """
import weakref
import psutil
from augury.core.memory import release_memory

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
