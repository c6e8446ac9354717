"""Experiments that start from a tiny checkpoint, and runs as before training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from safetensors.torch import save
from torch import Tensor

from augury.experiments.run import Run, describe
from augury.training.checkpoint import parameters
from augury.training.trained import OUTCOME, WEIGHTS
from tests import tiny
from trainables.nmt.translation import Translation

CORPUS: dict[str, Any] = {
    "source_language": "de",
    "target_language": "en",
    "train": {"builtin": 40},
    "valid": {"builtin": 4},
    "tests": {"test": {"builtin": 5}},
}
Make = Callable[..., Run]


def content(storage: Path, name: str, **changes: Any) -> dict[str, Any]:
    sections = {
        "name": "tuned",
        "corpus": CORPUS,
        "max_pieces": 200,
        "model": {"name": name, **changes.pop("model", {})},
        "training": {"max_tokens": 600, "max_epochs": 1},
    }
    own = dict.fromkeys(("vocabulary", "validation", "decoding"), {})
    return tiny.content("nmt", storage, **{**own, **sections, **changes})


def finished(run: Run, weights: Mapping[str, Tensor] | None = None) -> Run:
    """Return a run whose reported weights are those before training, or others."""
    describe(run, run.experiment.name)
    learned = weights or parameters(Translation(run).module)
    run.folder.write(WEIGHTS, save(dict(learned)))
    outcome = {"parameters": 1, "updates": 1, "epochs": 1.0, "onset": 0, "rows": 1}
    reported = {"kind": "last", "updates": [1]}
    outcome |= {"train_seconds": 1.0, "workers": 1, "weights": reported, "device": "cpu"}
    run.folder.write_record(OUTCOME, outcome)
    return run
