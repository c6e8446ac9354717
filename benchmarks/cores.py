"""How much faster do several cores prepare a text than one?

    python -m benchmarks.cores [--rows 1000000] [--cores 1 2] [--repeats 3] [--json]
        [--stages read deduplicate operator tokenise]

The stages are those of `benchmarks/preparation.py` on a Ray of this machine, which runs before the
clock starts. Each stage is a new process that is bound to so many cores, and numbers of cores take
turns. `benchmarks/operators.py` says the same of operators, in one process too.

    k rows/s    thousands of rows a second of wall time, median
    by CPU s    thousands a CPU second of all processes, median
    efficiency  wall time on the fewest cores relative to that on these, per core: the median of
                rounds

Other work on the machine takes cores away, and lowers the efficiency.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from augury.core.machine import available_cores
from augury.core.ray_connection import connect
from benchmarks import frame, preparation
from benchmarks.operators import cpu_of_processes

MAKES = {"read": "corpora", "deduplicate": "corpora", "operator": "views", "tokenise": "tokens"}
"""The folders of the store that a stage makes, by its name."""


def stage(directory: Path, name: str, cores: int) -> frame.Clock:
    """Return what a stage takes in this process and those that it starts."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    connect()
    work, _ = preparation.prepared(directory, name, "ray")
    cpu, wall = cpu_of_processes(), time.perf_counter()
    work()
    return frame.Clock(cpu_of_processes() - cpu, time.perf_counter() - wall)


def measure(directory: Path, name: str, cores: int) -> frame.Clock:
    """Return what a stage takes that begins with an empty folder."""
    shutil.rmtree(directory / "store" / MAKES[name], ignore_errors=True)
    command = [sys.executable, "-m", "benchmarks.cores", "--run", str(directory), name, str(cores)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=frame.ROOT)
    return frame.Clock(*json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = frame.parser(__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--stages", nargs="+", choices=MAKES, default=list(MAKES))
    parser.add_argument("--cores", type=int, nargs="+", default=sorted({1, available_cores()}))
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default 3)")
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        directory, name, cores = arguments.run
        print(json.dumps(stage(Path(directory), name, int(cores))))
        return
    rows: list[frame.Row] = []
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        preparation.write_text(place, arguments.rows)
        measure(place, "deduplicate", max(arguments.cores))  # what later stages read
        for name in arguments.stages:
            samples: dict[int, list[frame.Clock]] = {cores: [] for cores in sorted(arguments.cores)}
            for turn in range(arguments.repeats):
                for cores in frame.rotated(list(samples), turn):
                    samples[cores].append(measure(place, name, cores))
            fewest, *_ = samples
            walls = {cores: [clock.wall for clock in clocks] for cores, clocks in samples.items()}
            for cores, clocks in samples.items():
                rows.append(
                    {
                        "name": name,
                        "cores": cores,
                        "k rows/s": arguments.rows / statistics.median(walls[cores]) / 1e3,
                        "by CPU s": arguments.rows
                        / statistics.median(clock.cpu for clock in clocks)
                        / 1e3,
                        "efficiency": frame.ratio(walls[fewest], walls[cores]) * fewest / cores,
                    }
                )
    frame.report(arguments, {"rows": arguments.rows, "rounds": arguments.repeats}, rows)


if __name__ == "__main__":
    main()
