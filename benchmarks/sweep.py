"""What a sweep costs beyond its training: many short trials on Ray Tune against the same work without a sweep.

    python benchmarks/sweep.py [--trials 300] [--seconds 2]

A trial trains a small translation model for about so many seconds, so that loading, validation, scoring, records in
MLflow, pages and Ray itself are all in. It is held against three ideals, all divided by the trials that run at once: as
many times what the same run takes alone, by `augury train` on one thread, from the start of its training to its scores;
the same of its training steps only; and the sum of what those steps took in the trials, which leaves out what trials
lose to each other and to Ray beside them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

SPACE = """
QUESTION = "What does a sweep of short trials cost?"
base = {{
    "name": "short", "task": "nmt", "baseline": False, "regime": "plain",
    "corpus": {{
        "source_language": "de", "target_language": "en", "train": {{"builtin": 600, "lexicon": 366}},
        "valid": {{"builtin": 50, "lexicon": 366}}, "tests": {{"test": {{"builtin": 50, "lexicon": 366}}}},
    }},
    "vocabulary": {{"size": 300}},
    "model": {{"architecture": "tiny", "encoder_layers": 1, "decoder_layers": 1, "hidden_size": 64,
               "feedforward_size": 128}},
    "training": {{"max_tokens": 500, "learning_rate": 1e-3, "warmup_updates": 20, "max_updates": {updates},
                  "validate_every": {every}, "average_last": 2, "patience": 100}},
    "decoding": {{"beam": 1, "max_length": 20}},
    "scoring": {{"metrics": ["bleu"], "bootstrap_samples": 100}},
}}
space = {{"training.learning_rate": [{rates}]}}
metric, mode, seeds = "valid/loss", "min", (1, 2, 3)
"""


def run(trials: int, updates: int, storage: Path) -> tuple[float, list[float]]:
    """Wall-clock seconds of a sweep and the training seconds of its trials."""
    rates = ", ".join(f"{1e-3 * (1 + index / 1000):.6f}" for index in range(trials // 3))
    space = storage / "short.py"
    space.write_text(SPACE.format(updates=updates, every=updates // 2, rates=rates))
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "augury.cli", "sweep", str(space), "--storage", str(storage), "--scheduler", "all"],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wall = time.perf_counter() - start
    return wall, training_seconds(storage)


def alone(updates: int, storage: Path) -> tuple[float, float]:
    """Median seconds of three seeds, one after the other without a sweep: the whole run, and its training steps."""
    space: dict[str, Any] = {}
    exec(SPACE.format(updates=updates, every=updates // 2, rates=1e-3), space)
    experiment = storage / "short.yaml"
    experiment.write_text(yaml.safe_dump({**space["base"], "seeds": list(space["seeds"]), "storage": str(storage)}))
    subprocess.run(
        [sys.executable, "-m", "augury.cli", "train", str(experiment), "--set", "execution.threads=1"],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    runs = [path.parent for path in storage.glob("runs/*/seed-*/_COMPLETE")]
    entries = [next(storage.glob(f"trunks/*/{run.name}/{run.parent.name}")) for run in runs]  # written first
    pairs = zip(entries, runs, strict=True)
    whole = [(run / "_COMPLETE").stat().st_mtime - entry.stat().st_mtime for entry, run in pairs]
    return statistics.median(whole), statistics.median(training_seconds(storage))


def training_seconds(storage: Path) -> list[float]:
    """Of every run."""
    scores = [json.loads(path.read_text()) for path in storage.glob("runs/*/seed-*/scores.json")]
    return [each["cost"]["train_seconds"] for each in scores]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=2.0, help="of training in a trial")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        _, costs = run(6, 60, Path(name))
    updates = max(2, round(60 * given.seconds / (sum(costs) / len(costs)) / 2) * 2)
    print(f"{updates} updates take about {given.seconds:g} s beside another trial", flush=True)
    with tempfile.TemporaryDirectory() as name:
        whole, steps = alone(updates, Path(name))
    with tempfile.TemporaryDirectory() as name:
        wall, costs = run(given.trials, updates, Path(name))
    at_once = os.cpu_count() or 1
    print(f"{len(costs)} trials, {at_once} at once: makespan {wall:.0f} s")
    ideals = {"a run alone": whole, "its training alone": steps, "its training in a trial": statistics.fmean(costs)}
    for what, each in ideals.items():
        ideal = len(costs) * each / at_once
        print(f"{what} takes {each:.2f} s: ideal {ideal:.0f} s, makespan {wall / ideal:.2f} ×")


if __name__ == "__main__":
    main()
