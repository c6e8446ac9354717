"""Run folders as training writes them."""

from __future__ import annotations

import json

from augury.core.store import Folder

EXPOSURE = {
    "passes_by_view": {"source": 10.0},
    "onset": 0.0,
    "pieces": {"source": 12.0, "target": 11.0},
    "weights": {"kind": "averaged"},
}
ADDRESS = "00aa11bb22cc33dd"


class Run:
    """A run folder that grows as training writes it."""

    def __init__(self, folder: Folder):
        self.folder = folder
        self.describe()

    def describe(self, **changes: object) -> None:
        facts = {
            "name": "cipherdaug",
            "experiment": "ciphers",
            "address": ADDRESS,
            "seed": 3,
            "task": "nmt",
            "inputs": [
                {"name": "train", "address": "a" * 16, "rows": 2900},
                {"name": "test", "address": "b" * 16, "rows": 9},
            ],
            "parameters": {
                "regime.beta": 5,
                "augment.0.keys": [1, 2],
                "training.precision": "fp32",
            },
            "versions": {"augury": "0.1.0"},
            "commit": "c0ffee",
        }
        self.folder.write("experiment.yaml", "name: ciphers\n")
        self.folder.write_json("run.json", {**facts, **changes})

    def history(self, first: int, last: int, name: str | None = None, delay: float = 0.0) -> None:
        """Records after updates `first`, `first + 50` ... `last`, loss 1000 / update, at 10
        updates a second."""
        lines = [
            {
                "update": update,
                "passes": 0.0,
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
        score = {
            "name": "bleu",
            "value": value,
            "low": 29.0,
            "high": 34.0,
            "signature": "tok:13a",
            "n": 9,
        }
        cost = {
            "parameters": 1200,
            "data_factor": 3.0,
            "updates": 200,
            "target_tokens": 5000,
            "train_seconds": 20.0,
            "cpu_seconds": 19.0,
            "device": "cpu",
            "device_hours": 0.0056,
            **EXPOSURE,
        }
        self.folder.write_json("scores.json", {"tests": {"test": [score]}, "cost": cost})
        self.folder.sub("hypotheses").write("test.txt", "a house\n")
