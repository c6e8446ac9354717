"""Measure the overhead of a sweep of many short trials, in processes of this machine and on Ray
Tune, and that of Ray Tune alone.

    PYTHONPATH=platform:. python benchmarks/sweep.py [--trials 60] [--seconds 2] [--json]

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
ratio does not show it. Both are of the same run. Ray Tune alone runs a function that trains a small
network for as many CPU seconds and writes two checkpoints, in actors that it reuses. There, making
the network counts to the trial, nothing is read or scored, and no page or MLflow run is written.
"""

from __future__ import annotations

import argparse
import json
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from augury.core.machine import available_cores
from augury.core.store import Store
from augury.training import history

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
ALONE = "Ray Tune alone"
CALIBRATION = 60
"""Updates of the trials that say how long an update takes."""


def sweep(executor: str, trials: int, updates: int) -> dict[str, float]:
    """Return what a sweep takes."""
    rates = ", ".join(f"{1e-3 * (1 + index / 1000):.6f}" for index in range(trials // 3))
    with tempfile.TemporaryDirectory() as directory:
        storage, space = Path(directory, "storage"), Path(directory, "short.py")
        space.write_text(SPACE.format(updates=updates, every=updates // 2, rates=rates))
        begin = time.time()
        command: list[str | Path] = ["sweep", space, "--storage", storage, "--executor", executor]
        run("-m", "augury.cli", *command, "--scheduler", "all")
        makespan = time.time() - begin
        spans, training = [], []
        for path in storage.glob("runs/*/seed-*/_COMPLETE"):
            folder = Store(storage).folder("runs", f"{path.parts[-3]}/{path.parts[-2]}")
            spans.append((first_update(history.read(folder)), path.stat().st_mtime))
            training.append(json.loads((path.parent / "scores.json").read_text())["cost"])
    return {
        **summary(begin, makespan, spans),
        "training": statistics.fmean(cost["train_seconds"] for cost in training),
    }


def first_update(records: Sequence[history.Record]) -> float:
    """Return when the first update of a history began: before the first validation there is a
    record of the losses, and in it the time of training, without that of the validation."""
    validation = next(record for record in records if "train/seconds" in record["metrics"])
    losses = next(record for record in records if record["update"] == validation["update"])
    return float(losses["time"] - validation["metrics"]["train/seconds"])


def tune_alone(trials: int, seconds: float) -> dict[str, float]:
    """Return what Ray Tune alone takes for trials of so many CPU seconds."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "spans.json")
        begin = time.time()
        run(__file__, "--alone", str(file), "--trials", str(trials), "--seconds", str(seconds))
        makespan = time.time() - begin
        return summary(begin, makespan, json.loads(file.read_text()))


def run(*arguments: str | Path) -> None:
    """Run a Python program without its output."""
    command = [sys.executable, *map(str, arguments)]
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if ended.returncode:
        sys.exit(f"{shlex.join(command)} ended with {ended.returncode}:\n{ended.stderr}")


def summary(begin: float, makespan: float, spans: list[Any]) -> dict[str, float]:
    """Return the figures of a run whose trials began and ended at these times."""
    starts, ends = zip(*spans, strict=True)
    ideal = sum(ends) - sum(starts)
    return {
        "trials": len(spans),
        "trial": ideal / len(spans),
        "first_trial": min(starts) - begin,
        "after_last": begin + makespan - max(ends),
        "makespan": makespan,
        "ideal": ideal / available_cores(),
        "ratio": makespan / (ideal / available_cores()),
        "ratio_of_trials": (max(ends) - min(starts)) / (ideal / available_cores()),
    }


def train_alone(config: dict[str, Any]) -> None:
    """Train a small network for some CPU seconds, as a trial of Ray Tune."""
    import torch
    from ray import tune

    torch.set_num_threads(1)
    begin = time.time()
    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64))
    optimizer = torch.optim.Adam(model.parameters())
    for validation in range(2):
        until = time.process_time() + config["seconds"] / 2
        while time.process_time() < until:
            loss = model(torch.randn(500, 64)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with tempfile.TemporaryDirectory() as directory:
            torch.save(model.state_dict(), Path(directory, "model.pt"))
            tune.report(
                {"validation": validation, "begin": begin, "end": time.time()},
                checkpoint=tune.Checkpoint.from_directory(directory),
            )


def run_tune(file: Path, trials: int, seconds: float) -> None:
    """Run such trials on Ray Tune, and write when each began and ended."""
    import ray
    from ray import tune

    ray.init(address="local", num_cpus=available_cores(), log_to_driver=False)
    tuner = tune.Tuner(
        tune.with_resources(train_alone, {"CPU": 1}),
        param_space={"seconds": seconds},
        tune_config=tune.TuneConfig(num_samples=trials, reuse_actors=True),
        run_config=tune.RunConfig(storage_path=str(file.parent), verbose=0),
    )
    results = [result.metrics or {} for result in tuner.fit()]
    file.write_text(json.dumps([[metrics["begin"], metrics["end"]] for metrics in results]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=60, help="a multiple of three")
    parser.add_argument("--seconds", type=float, default=2.0, help="CPU seconds of a training")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--alone", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.alone:
        run_tune(arguments.alone, arguments.trials, arguments.seconds)
        return
    per_update = cpu_seconds() / CALIBRATION
    updates = max(2, round(arguments.seconds / per_update / 2) * 2)
    measured = {
        "local": sweep("local", arguments.trials, updates),
        "ray": sweep("ray", arguments.trials, updates),
        ALONE: tune_alone(arguments.trials, arguments.seconds),
    }
    if arguments.json:
        print(json.dumps({"updates": updates, "executors": measured}, indent=2))
        return
    print(f"{arguments.trials} trials of {updates} updates, {available_cores()} at once; seconds")
    print(f"{'':16}{'a trial':>9}{'first after':>13}{'makespan':>10}{'ideal':>8}{'ratio':>8}")
    for name, row in measured.items():
        print(
            f"{name:16}{row['trial']:9.2f}{row['first_trial']:13.1f}{row['makespan']:10.0f}"
            f"{row['ideal']:8.0f}{row['ratio']:7.2f}×"
        )


def cpu_seconds() -> float:
    """Return the CPU seconds of a training of `CALIBRATION` updates."""
    with tempfile.TemporaryDirectory() as directory:
        storage, space = Path(directory, "storage"), Path(directory, "short.py")
        text = SPACE.format(updates=CALIBRATION, every=CALIBRATION // 2, rates="1e-3")
        space.write_text(text)
        command: list[str | Path] = ["sweep", space, "--storage", storage, "--executor", "local"]
        run("-m", "augury.cli", *command, "--scheduler", "all")
        outcomes = [
            json.loads(path.read_text()) for path in storage.glob("runs/*/seed-*/outcome.json")
        ]
    return statistics.median(outcome["cpu_seconds"] for outcome in outcomes)


if __name__ == "__main__":
    main()
