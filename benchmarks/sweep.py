"""Measure the overhead of a sweep: many short trials on Ray Tune compared with the same work
without a sweep.

    PYTHONPATH=platform:. python benchmarks/sweep.py [--trials 300] [--seconds 2] [--json]

A trial trains a small translation model for about --seconds, so the makespan includes loading,
validation, scoring, tracking, pages and Ray itself. It is compared with three ideals, each divided
by the number of concurrent trials: the time of the same runs by `augury train` on one thread, from
the end of one run to that of the next; the time of their training steps only; and the sum of the
training steps in the trials, which excludes slowdown by other trials and Ray.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from augury.core.cores import available_cores

SPACE = """
from augury.sweeping.declarations import SearchSpace

BASE = {{
    "name": "short", "task": "nmt", "baseline": False, "regime": "plain",
    "corpus": {{
        "source_language": "de", "target_language": "en",
        "train": {{"builtin": 600, "lexicon": 366}},
        "valid": {{"builtin": 50, "lexicon": 366}},
        "tests": {{"test": {{"builtin": 50, "lexicon": 366}}}},
    }},
    "vocabulary": {{"size": 300}},
    "model": {{"architecture": "tiny", "encoder_layers": 1, "decoder_layers": 1, "hidden_size": 64,
               "feedforward_size": 128}},
    "training": {{"max_tokens": 500, "learning_rate": 1e-3, "warmup_updates": 20,
                  "max_updates": {updates}, "validate_every": {every}, "average_last": 2,
                  "patience": 100}},
    "decoding": {{"beam": 1, "max_length": 20}},
    "scoring": {{"metrics": ["bleu"], "bootstrap_samples": 100}},
}}
SPACE = SearchSpace(
    question="What does a sweep of short trials cost?",
    base=BASE,
    keys={{"training.learning_rate": [{rates}]}},
    metric="valid/loss",
    mode="min",
    seeds=(1, 2, 3),
)
"""


def run(trials: int, updates: int, storage: Path) -> tuple[float, list[float]]:
    """Return the wall-clock seconds of a sweep and the training seconds of its trials."""
    rates = ", ".join(f"{1e-3 * (1 + index / 1000):.6f}" for index in range(trials // 3))
    space = storage / "short.py"
    space.write_text(SPACE.format(updates=updates, every=updates // 2, rates=rates))
    start = time.perf_counter()
    subprocess.run(
        [
            sys.executable,
            "-m",
            "augury.cli",
            "sweep",
            str(space),
            "--storage",
            str(storage),
            "--scheduler",
            "all",
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wall = time.perf_counter() - start
    return wall, training_seconds(storage)


def run_without_sweep(updates: int, storage: Path) -> tuple[float, float]:
    """Return the median seconds of sequential runs: of the whole run, and of its training steps."""
    names: dict[str, Any] = {}
    exec(SPACE.format(updates=updates, every=updates // 2, rates=1e-3), names)
    space = names["SPACE"]
    experiment = storage / "short.yaml"
    experiment.write_text(
        yaml.safe_dump({**space.base, "seeds": list(space.seeds), "storage": str(storage)})
    )
    subprocess.run(
        [
            sys.executable,
            "-m",
            "augury.cli",
            "train",
            str(experiment),
            "--set",
            "execution.threads=1",
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    ends = sorted(path.stat().st_mtime for path in storage.glob("runs/*/seed-*/_COMPLETE"))
    totals = [later - earlier for earlier, later in pairwise(ends)]
    return statistics.median(totals), statistics.median(training_seconds(storage))


def training_seconds(storage: Path) -> list[float]:
    """Return the training seconds of every run."""
    paths = storage.glob("runs/*/seed-*/scores.json")
    return [json.loads(path.read_text())["cost"]["train_seconds"] for path in paths]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=2.0, help="training time per trial")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        _, costs = run(6, 60, Path(directory))
    updates = max(2, round(60 * arguments.seconds / (sum(costs) / len(costs)) / 2) * 2)
    with tempfile.TemporaryDirectory() as directory:
        total, steps = run_without_sweep(updates, Path(directory))
    with tempfile.TemporaryDirectory() as directory:
        wall, costs = run(arguments.trials, updates, Path(directory))
    at_once = available_cores()
    units = {
        "a single run": total,
        "its training steps": steps,
        "training steps in a trial": statistics.fmean(costs),
    }
    ideals = {name: len(costs) * seconds / at_once for name, seconds in units.items()}
    if arguments.json:
        content = {"updates": updates, "trials": len(costs), "at_once": at_once, "makespan": wall}
        print(json.dumps({**content, "seconds": units, "ideals": ideals}, indent=2))
        return
    print(f"{updates} updates take about {arguments.seconds:g} s with a concurrent trial")
    print(f"{len(costs)} trials, {at_once} at once: makespan {wall:.0f} s")
    for name, ideal in ideals.items():
        print(f"{name}: {units[name]:.2f} s, ideal {ideal:.0f} s, makespan {wall / ideal:.2f} ×")


if __name__ == "__main__":
    main()
