"""A toy task for the engine, and a program that trains it and can be killed at a given update.

python toy.py STORAGE [--processes] --workers N
    [--kill-at UPDATE] [--spoil-at UPDATE] [--interrupt-at UPDATE] [--max-failures N]
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import nn

from augury.core.execution import Execution
from augury.core.store import Folder, Store
from augury.regimes.regime import Losses, Progress
from augury.training import history
from augury.training.batching import Lengths
from augury.training.launch import launch
from augury.training.learner import Loaded, Validation
from augury.training.loop import Trainer
from augury.training.settings import Training
from augury.training.trained import Initialisation, OnValidation, TrainingRun

TRAINING = Training(
    max_tokens=64,
    learning_rate=0.01,
    warmup_updates=5,
    max_epochs=4,
    average_last=3,
    weights="averaged",
    accumulation=2,
)


class Toy:
    """Tells the sign of a sum; dropout makes every update depend on its random numbers."""

    def __init__(
        self,
        kill_at: int | None = None,
        spoil_at: int | None = None,
        once: Path | None = None,
        interrupt_at: int | None = None,
    ):
        random = np.random.default_rng(0)
        self.inputs = torch.tensor(random.normal(size=(200, 8)), dtype=torch.float32)
        self.labels = (self.inputs.sum(1) > 0).long()
        drawn = random.integers(1, 12, 200)
        self.lengths = Lengths(drawn, drawn)
        self.group_rows, self.weights = [200], None
        torch.manual_seed(0)
        self.module: nn.Module = nn.Sequential(
            nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 2)
        )
        self.kill_at, self.spoil_at, self.once = kill_at, spoil_at, once
        self.interrupt_at = interrupt_at

    def ids(self, examples: np.ndarray) -> list[str]:
        return [f"toy-{example}" for example in examples]

    def load(self, examples: np.ndarray, epoch: int, device: torch.device) -> Loaded:
        batch = (self.inputs[examples].to(device), self.labels[examples].to(device))
        costs = self.lengths.cost[examples]
        return Loaded(batch, int(costs.sum()), len(examples) * int(costs.max()))

    def onset(self, updates_per_epoch: float) -> float:
        return 0

    def loss(self, batch: Any, progress: Progress) -> Losses:
        update = progress.update
        if update == self.kill_at and self.once is not None and not self.once.exists():
            self.once.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if update == self.interrupt_at:
            self.interrupt_at = None  # once: a second one would end it at once
            os.kill(os.getpid(), signal.SIGINT)
        inputs, labels = batch
        if update == self.spoil_at:
            inputs = inputs * float("nan")
        total = nn.functional.cross_entropy(self.module(inputs), labels, reduction="sum")
        return Losses(total, float(len(labels)), len(labels), {"nll": total.detach()})

    def validate(self, device: torch.device) -> Validation:
        logits = self.module(self.inputs.to(device))
        loss = float(nn.functional.cross_entropy(logits, self.labels.to(device)))
        accuracy = float((logits.argmax(1).cpu() == self.labels).float().mean())
        return Validation(loss, accuracy, {"accuracy": accuracy})


def fit_here(
    folder: Folder,
    training: Training = TRAINING,
    learner: Toy | None = None,
    *,
    address: str = "toy",
    seed: int = 1,
    init_from: Initialisation | None = None,
    on_validation: OnValidation = lambda metrics: None,
    deadline: float | None = None,
) -> Folder:
    """Train in this process, on one thread; return the folder of the run."""
    torch.set_num_threads(1)
    run = TrainingRun(folder=folder, address=address, seed=seed)
    trainer = Trainer(
        learner or Toy(), training, run, device=torch.device("cpu"), init_from=init_from
    )
    trainer.fit(on_validation, deadline)
    return folder


def measured(folder: Folder) -> list[tuple[int, float, dict[str, float]]]:
    """Return update, epochs and metrics of every record of a run, without times and memory."""
    records = []
    for record in history.read(folder):
        metrics = record["metrics"].items()
        kept = {name: value for name, value in metrics if not re.search("second|memory", name)}
        records.append((record["update"], record["epochs"], kept))
    return records


@dataclass(frozen=True, kw_only=True)
class ToyRun(TrainingRun):
    """A run with the flags of this program."""

    flags: argparse.Namespace


def train(
    run: ToyRun, device: torch.device, on_validation: OnValidation, deadline: float | None = None
) -> None:
    flags, store = run.flags, Store(run.folder.root)
    once = Path(store.root) / "killed"
    task = Toy(flags.kill_at, flags.spoil_at, once, flags.interrupt_at)
    Trainer(task, TRAINING, run, device=device).fit(on_validation, deadline)


def process(rank: int, run: ToyRun) -> None:
    rendezvous = f"file://{run.folder.root}/rendezvous-{os.getppid()}"
    dist.init_process_group("gloo", init_method=rendezvous, rank=rank, world_size=run.flags.workers)
    torch.set_num_threads(1)
    late = run.flags.late
    deadline = None if late is None else float(rank != late) * 1e12
    train(run, torch.device("cpu"), lambda metrics: None, deadline)
    dist.destroy_process_group()


def run(storage: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run this program in a process of its own."""
    variables = {"OMP_NUM_THREADS": "1", "RAY_AUTH_MODE": "disabled"}
    return subprocess.run(
        [sys.executable, __file__, str(storage), *flags],
        text=True,
        capture_output=True,
        check=False,
        env={**os.environ, **variables, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=500,
    )


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("storage")
    parser.add_argument("--processes", action="store_true", help="that no launcher looks after")
    parser.add_argument("--workers", type=int, default=1)
    for update in ("--kill-at", "--spoil-at", "--interrupt-at"):
        parser.add_argument(update, type=int)
    parser.add_argument("--late", type=int, help="rank whose clock is past a deadline")
    parser.add_argument("--max-failures", type=int, default=2)
    options = parser.parse_args(words)
    folder = Store(options.storage).folder("runs", "toy")
    run = ToyRun(folder=folder, address="toy", seed=1, flags=options)
    if options.processes:
        Path(options.storage).mkdir(parents=True, exist_ok=True)
        torch.multiprocessing.spawn(process, (run,), nprocs=options.workers)
    else:
        training = TRAINING.model_copy(update={"workers": options.workers})
        execution = Execution(threads=1, max_failures=options.max_failures)

        def on_validation(metrics: dict[str, float]) -> None:
            print("validation", metrics["validation"])

        launch(
            train,
            run,
            training,
            execution,
            name="toy, seed 1",
            on_validation=on_validation,
            deadline=None,
            warn=print,
        )


if __name__ == "__main__":
    main()
