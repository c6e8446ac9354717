"""Every benchmark at its smallest."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from benchmarks import frame

SMALLEST = {
    "training": "--repeats 1",
    "objective": "--repeats 1",
    "adversarial": "--repeats 1",
    "decode": "--sentences 20 --pairs 300 --updates 2 --beam 2 --repeats 1",
    "preparation": "--rows 500 --stages read",
    "sweep": "--trials 3 --seconds 0.1",
    "race": "--draws 1",
    "time_to_bleu": "--pairs 300 --valid 10 --updates 4 --every 2 --vocabulary 300 "
    "--sizes 1 16 32 2",
}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", SMALLEST)
@pytest.mark.timeout(900)
def test_benchmark_runs_at_its_smallest(name: str) -> None:
    if name == "time_to_bleu" and "AUGURY_DATA" not in os.environ:
        pytest.skip("AUGURY_DATA is unset: no real corpora")
    command = [sys.executable, "-m", f"benchmarks.{name}", *SMALLEST[name].split(), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=frame.ROOT, check=True)
    assert json.loads(done.stdout[done.stdout.index("{") :])
