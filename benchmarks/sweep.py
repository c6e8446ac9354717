"""What does a sweep of many short trials cost beside its trials, here and on Ray Tune?

    python -m benchmarks.sweep [--trials 60] [--seconds 2] [--json]

A trial trains a small translation model for about --seconds, and is scored. What it takes is
measured in the trial, from its first update to its scores; the ideal is the sum over trials,
divided by the number of them that run at once. The makespan is that of the command, from its start
to its end. The rest are:

- before the first trial: imports, the plan, texts;
- between two trials of a slot: the record of one that has ended, the decision, the description of
  the next, its model and the reading of its examples;
- after the last: the page, MLflow, the end of processes.

Work of the command beside trials, such as pages and MLflow, slows them where all cores are in use.
That lengthens the ideal as well as the makespan, as other work on the machine does, so that the
ratio does not show it. Both are of the same run.
"""

from __future__ import annotations

import json
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from augury.core.machine import available_cores
from augury.core.store import Store
from augury.training import history
from benchmarks import frame

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
    "scoring": {{"metrics": ["bleu"]}},
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
CALIBRATION = 60
"""Updates of the trials that say how long an update takes."""


def run_sweep(directory: str, executor: str, rates: str, updates: int) -> Path:
    """Run a sweep by the command; return its storage."""
    storage, space = Path(directory, "storage"), Path(directory, "short.py")
    space.write_text(SPACE.format(updates=updates, every=updates // 2, rates=rates))
    command = [sys.executable, "-m", "augury.cli", "sweep", str(space), "--storage", str(storage)]
    command += ["--executor", executor, "--scheduler", "all"]
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if ended.returncode:
        sys.exit(f"{shlex.join(command)} ended with {ended.returncode}:\n{ended.stderr}")
    return storage


def measure(executor: str, trials: int, updates: int) -> frame.Row:
    """Return what a sweep takes."""
    rates = ", ".join(f"{1e-3 * (1 + index / 1000):.6f}" for index in range(trials // 3))
    starts, ends, training = [], [], []
    with tempfile.TemporaryDirectory() as directory:
        begin = time.time()
        storage = run_sweep(directory, executor, rates, updates)
        makespan = time.time() - begin
        for path in storage.glob("runs/*/seed-*/manifest.json"):
            folder = Store(storage).folder("runs", f"{path.parts[-3]}/{path.parts[-2]}")
            starts.append(first_update(history.read(folder)))
            ends.append(path.stat().st_mtime)
            cost = json.loads((path.parent / "scores.json").read_text())["cost"]
            training.append(cost["train_seconds"])
    ideal = (sum(ends) - sum(starts)) / available_cores()
    return {
        "executor": executor,
        "trials": len(starts),
        "a trial": (sum(ends) - sum(starts)) / len(starts),
        "training": statistics.fmean(training),
        "first after": min(starts) - begin,
        "after last": begin + makespan - max(ends),
        "makespan": makespan,
        "ideal": ideal,
        "ratio": makespan / ideal,
        "of trials": (max(ends) - min(starts)) / ideal,
    }


def first_update(records: Sequence[history.Record]) -> float:
    """Return when the first update of a history began: before the first validation there is a
    record of the losses, and in it the time of training, without that of the validation."""
    validation = next(record for record in records if "train/seconds" in record["metrics"])
    losses = next(record for record in records if record["update"] == validation["update"])
    return float(losses["time"] - validation["metrics"]["train/seconds"])


def main() -> None:
    parser = frame.parser(__doc__)
    parser.add_argument("--trials", type=int, default=60, help="a multiple of three")
    parser.add_argument("--seconds", type=float, default=2.0, help="CPU seconds of a training")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        storage = run_sweep(directory, "local", "1e-3", CALIBRATION)
        outcomes = [json.loads(path.read_text()) for path in storage.glob("runs/*/*/outcome.json")]
    per_update = statistics.median(one["cpu_seconds"] for one in outcomes) / CALIBRATION
    updates = max(2, round(arguments.seconds / per_update / 2) * 2)
    rows = [measure(executor, arguments.trials, updates) for executor in ("local", "ray")]
    frame.report(arguments, {"updates": updates, "at once": available_cores()}, rows)


if __name__ == "__main__":
    main()
