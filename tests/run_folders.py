"""Run folders as training writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from augury.core.store import Folder, Store
from augury.experiments.record import Cost, Input, RunRecord
from augury.reporting.results import SystemResult, load_groups
from augury.scoring.stored import Score
from augury.training.trained import WEIGHTS, Outcome, ReportedWeights

ADDRESS = "00aa11bb22cc33dd"


def outcome(seconds: float, **changes: object) -> Outcome:
    """What a training of this time came to."""
    values = {
        "updates": 200,
        "epochs": 10.0,
        "onset": 0.0,
        "rows": 5000,
        "weights": ReportedWeights("averaged"),
        "device": "cpu",
        "parameters": 1200,
    }
    return Outcome(**{**values, "train_seconds": seconds, **changes})  # type: ignore[arg-type]


def write_scores(
    run: Folder,
    tests: Mapping[str, Sequence[Score]],
    training: Outcome,
    data_factor: float = 1.0,
) -> None:
    """Write the scores of a described run, and the cost of its training."""
    cost = Cost.of(
        run,
        training,
        data_factor=data_factor,
        epochs={"source": 10.0},
        pieces={"source": 12.0, "target": 11.0},
    )
    record = RunRecord.read(run)
    scores = {test: tuple(of_test) for test, of_test in tests.items()}
    replace(record, tests=scores, training=training, cost=cost).write_scores(run)


def weights(storage: str | Path) -> dict[str, bytes]:
    """The file of the weights of every run of a storage, by the name of the run."""
    store = Store(storage)
    kinds = {address: store.folder("runs", address) for address in store.addresses("runs")}
    runs = [folder.sub(seed) for folder in kinds.values() for seed in folder.subfolders()]
    return {run.name: run.read(WEIGHTS) for run in runs if run.exists(WEIGHTS)}


def load(folders: Sequence[Folder]) -> list[SystemResult]:
    """The systems of run folders, one per configuration, in the order in which they first occur."""
    groups: dict[str, dict[int, Folder]] = {}
    for folder in folders:
        record = RunRecord.read(folder)
        groups.setdefault(record.address, {})[record.seed] = folder
    return load_groups(list(groups.values()))


class Run:
    """A run folder that grows as training writes it."""

    def __init__(self, folder: Folder):
        self.folder = folder
        self.describe()

    def describe(self, **changes: object) -> None:
        record = RunRecord(
            name="cipherdaug",
            experiment="ciphers",
            address=ADDRESS,
            seed=3,
            task="nmt",
            inputs=(Input("train", "a" * 16, 2900), Input("test", "b" * 16, 9)),
            parameters={
                "regime.beta": 5,
                "augment.0.keys": [1, 2],
                "training.precision": "fp32",
            },
            differing=("regime.beta", "augment.0.keys"),
            versions={"augury": "0.1.0"},
            commit="c0ffee",
        )
        self.folder.write("experiment.yaml", "name: ciphers\n")
        replace(record, **changes).write_description(self.folder, {})  # type: ignore[arg-type]

    def history(self, first: int, last: int, name: str | None = None, delay: float = 0.0) -> None:
        """Records after updates `first`, `first + 50` ... `last`, loss 1000 / update, at 10
        updates a second."""
        lines = [
            {
                "update": update,
                "epochs": 0.0,
                "time": 1.7e9 + update / 10 + delay,
                "metrics": {"train/loss": 1000 / update},
            }
            for update in range(first, last + 1, 50)
        ]
        self.raw(name or f"{first:08d}", *lines)

    def raw(self, name: str, *lines: object) -> None:
        self.folder.sub("history").write(
            f"{name}.jsonl", "".join(json.dumps(line) + "\n" for line in lines)
        )

    def scores(self, value: float = 31.5) -> None:
        score = Score("bleu", value, 29.0, 34.0, "tok:13a", 9)
        training = outcome(20.0, cpu_seconds=19.0)
        write_scores(self.folder, {"test": [score]}, training, data_factor=3.0)
        self.folder.sub("hypotheses").write("test.txt", "a house\n")
