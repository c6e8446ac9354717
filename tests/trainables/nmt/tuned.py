"""Experiments that start from a tiny checkpoint, and runs as before training."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from safetensors.torch import save

from augury.experiments.run import Run, describe
from augury.training.checkpoint import parameters
from augury.training.trained import OUTCOME, WEIGHTS
from trainables.nmt.translation import Translation

CIPHERS: dict[str, Any] = {
    "augment": [{"operator": "cipher", "keys": [1]}],
    "regime": {"name": "coregularised", "warmup_steps": 0},
}
Make = Callable[..., Run]


def content(storage: Path, name: str, **changes: Any) -> dict[str, Any]:
    model = {"name": name, **changes.pop("model", {})}
    return {
        "name": "tuned",
        "task": "nmt",
        "storage": str(storage),
        "baseline": False,
        "corpus": {
            "source_language": "de",
            "target_language": "en",
            "train": {"builtin": 40},
            "valid": {"builtin": 4},
            "tests": {"test": {"builtin": 5}},
        },
        "max_pieces": 200,
        "model": model,
        "training": {"max_tokens": 600, "max_epochs": 1},
        "execution": {"executor": "local", "launcher": "direct", "device": "cpu", "threads": 1},
        "tracking": {"enabled": False},
        "scoring": {"bootstrap_samples": 20},
        **changes,
    }


def finished(run: Run) -> Run:
    """Return a run whose reported weights are those before training."""
    describe(run, "tuned")
    run.folder.write(WEIGHTS, save(parameters(Translation(run).module)))
    outcome = {"parameters": 1, "updates": 1, "epochs": 1.0, "onset": 0, "rows": 1}
    weights = {"kind": "last", "updates": [1]}
    outcome |= {"train_seconds": 1.0, "workers": 1, "weights": weights, "device": "cpu"}
    run.folder.write_record(OUTCOME, outcome)
    return run
