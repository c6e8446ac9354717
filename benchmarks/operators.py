"""How many rows a second does every operator make, from one core to all, and with what memory?

    python -m benchmarks.operators [--rows 10000 100000 300000] [--operators cipher noise ...]
        [--cores 1 2] [--most 120] [--json] [--plot FILE]

A row is a call of `augury.augment.pipeline.augment` on a corpus in the store: reading, fitting and
writing included, in a new process that is bound to so many cores; `local` works in that process, or
where the work is estimated to outweigh their start in as many as cores, `ray` on a Ray of as many
workers as cores. Processes run before the clock starts. What operators write must be the same bytes
in all cases.

    k rows/s    rows of the corpus, thousands a second of wall time
    by CPU s    thousands a CPU second of all processes
    efficiency  rows a second, relative to those of one core with the same executor, per core
    peak MiB    the largest resident size of the calling process, which holds no text where others
                work; flat memory does not grow with rows

The text is the English side of Multi30k if AUGURY_DATA is the directory of the corpora, else of the
built-in corpus, repeated; every sentence ends with its row number, so that all are distinct. Sizes
that would take more than `--most` seconds by the operator's own estimate are left out, and named.
Operators that spend their time in a model are those of `benchmarks/decode.py`, draws from token ids
those of `benchmarks/draws.py`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.compute as pc

from augury.augment import operator
from augury.augment.pipeline import augment
from augury.core.execution import Execution
from augury.core.machine import available_cores
from augury.core.ray_connection import connect
from augury.core.store import Store
from augury.corpora.builtin import generate
from augury.corpora.corpus import KIND, PARALLEL, SHARD_ROWS, Corpus, CorpusWriter
from benchmarks import frame

OPERATORS: dict[str, dict[str, Any]] = {
    "cipher": {"keys": [1]},
    "noise": {"spelling": 0.1, "casing": 0.05},
    "eda": {"copies": 1},
    "fuzzy_match": {},
}
BUILTIN_SENTENCES = 29_000  # the size of Multi30k


def english() -> tuple[str, list[str]]:
    """Return the name of the text and its sentences."""
    if "AUGURY_DATA" not in os.environ:
        return "built-in corpus", [pair.target for pair in generate("train", BUILTIN_SENTENCES)]
    file = Path(os.environ["AUGURY_DATA"]) / "multi30k" / "train.en.gz"
    return "Multi30k", gzip.decompress(file.read_bytes()).decode().removesuffix("\n").split("\n")


def write_corpus(lines: Sequence[str], rows: int, store: Store) -> Corpus:
    """Write a corpus of distinct sentences."""
    writer = CorpusWriter(store.folder(KIND, str(rows)))
    texts = pa.array(lines)
    for first in range(0, rows, SHARD_ROWS):
        numbers = np.arange(first, min(first + SHARD_ROWS, rows))
        ids, count = pa.array(numbers).cast(pa.string()), len(numbers)
        text = pc.binary_join_element_wise(texts.take(pa.array(numbers % len(lines))), ids, " ")
        columns = {
            "id": ids,
            "source": text,
            "target": text,
            "source_language": ["en"] * count,
            "target_language": ["en"] * count,
            "origin": ["original"] * count,
            "views": [[]] * count,
            "lineage": [None] * count,
        }
        writer.add(pa.table(columns, schema=PARALLEL.schema))
    return writer.finish({})


def stage(root: str, address: str, name: str, executor: Any, cores: int) -> dict[str, Any]:
    """Run an operator in this process and return its seconds, peak memory and digest."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    store = Store(root)
    if executor == "ray":
        connect()
    corpus = Corpus.load(store, address)
    of_name = operator.parse({"operator": name, **OPERATORS[name]})
    started = cpu_of_processes()
    clock, made = frame.clock(
        lambda: augment(corpus, [of_name], store, execution=Execution(executor=executor))
    )
    digest = blake2b(digest_size=16)
    for part in made.parts:
        for shard in sorted(path.name for path in Path(part.folder.path()).glob("*.parquet")):
            digest.update(part.folder.read(shard))
    # The peak of getrusage includes that of the parent process before exec.
    peak = re.findall(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    return {
        "wall": clock.wall,
        "cpu": cpu_of_processes() - started,
        "peak": int(peak[0]) / 1024,
        "digest": digest.hexdigest(),
    }


def cpu_of_processes() -> float:
    """Return the CPU seconds of this process and of those that it has started, ended ones too."""
    times = [process.cpu_times() for process in psutil.Process().children(recursive=True)]
    return frame.cpu() + sum(of.user + of.system for of in times)


def measure(
    lines: Sequence[str], name: str, rows: int, settings: Sequence[tuple[str, int]]
) -> list[frame.Row]:
    """Return the figures of an operator for a number of rows, an executor and cores a row."""
    results: list[frame.Row] = []
    speeds: dict[str, float] = {}
    digests = set()
    for executor, cores in settings:
        with tempfile.TemporaryDirectory() as root:
            corpus = write_corpus(lines, rows, Store(root))
            command = [sys.executable, "-m", "benchmarks.operators", "--run", root]
            command += [corpus.address, name, executor, str(cores)]
            done = subprocess.run(
                command, check=True, stdout=subprocess.PIPE, text=True, cwd=frame.ROOT
            )
        figures = json.loads(done.stdout.splitlines()[-1])
        digests.add(figures["digest"])
        assert len(digests) == 1, f"{name} writes other bytes with {executor} on {cores} cores"
        speed = rows / figures["wall"]
        results.append(
            {
                "name": name,
                "executor": executor,
                "cores": cores,
                "rows": rows,
                "k rows/s": speed / 1e3,
                "by CPU s": rows / figures["cpu"] / 1e3,
                "efficiency": speed / cores / speeds.setdefault(executor, speed / cores),
                "peak MiB": figures["peak"],
            }
        )
    return results


def main() -> None:
    parser = frame.parser(__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 300_000])
    parser.add_argument("--operators", nargs="+", choices=OPERATORS, default=list(OPERATORS))
    parser.add_argument("--cores", type=int, nargs="+", default=sorted({1, available_cores()}))
    parser.add_argument(
        "--executors", nargs="+", choices=["local", "ray"], default=["local", "ray"]
    )
    parser.add_argument("--most", type=float, default=120, help="seconds (default 120)")
    parser.add_argument("--run", nargs=5, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        root, address, name, executor, cores = arguments.run
        print(json.dumps(stage(root, address, name, executor, int(cores))))
        return
    text, lines = english()
    settings = [
        (executor, cores)
        for executor in ("local", "ray")
        if executor in arguments.executors
        for cores in sorted(arguments.cores)
    ]
    results: list[frame.Row] = []
    for name in arguments.operators:
        for rows in sorted(arguments.rows):
            seconds = rows / operator.schema(name).PER_SECOND
            if seconds > arguments.most:
                print(f"{name}, {rows:,} rows: left out, about {seconds:.0f} s", file=sys.stderr)
                continue
            results += measure(lines, name, rows, settings)
    frame.report(arguments, {"text": text, "shard": SHARD_ROWS}, results, over="rows")


if __name__ == "__main__":
    main()
