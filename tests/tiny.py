"""Experiments of every task that are made in a moment, on the built-in languages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from augury.core.store import Store
from augury.experiments.make import prepare
from augury.experiments.run import Run
from augury.experiments.spec import Experiment, parse
from trainables.nmt.config import ModelSettings

T5 = {"architecture": "tiny", "vocabulary_size": 150, "feedforward_size": 32}
"""The model of a generator."""
SIZES = {"layers": 1, "hidden_size": 16, "attention_heads": 2}
ENCODER = {**T5, "vocabulary_size": 200, **SIZES}
"""The model of a classifier."""
PARALLEL = {
    "source_language": "qaa",
    "target_language": "qab",
    "train": {"builtin": 60},
    "valid": {"builtin": 12},
}
OF_TASK: dict[str, dict[str, Any]] = {
    "nmt": {
        "corpus": {**PARALLEL, "tests": {"test": {"builtin": 6}}},
        "vocabulary": {"size": 200},
        "model": {
            "architecture": "tiny",
            "hidden_size": 16,
            "feedforward_size": 32,
            "attention_heads": 2,
        },
        "validation": {"sentences": 2},
        "decoding": {"beam": 1, "max_length": 12},
    },
    "nli": {
        "corpus": {
            "language": "qaa",
            "train": {"builtin": 60},
            "valid": {"builtin": 12},
            "tests": {"test": {"builtin": 6}},
        },
        "model": ENCODER,
        "max_length": 40,
    },
    "classification": {
        "corpus": {
            "language": "qaa",
            "labels": ["affirmative", "negative"],
            "train": {"builtin": 60},
            "valid": {"builtin": 12},
            "tests": {"test": {"builtin": 6}},
        },
        "model": ENCODER,
        "max_length": 40,
    },
    "seq2seq": {
        "corpus": {"form": "text", **PARALLEL, "tests": {"test": {"builtin": 6}}},
        "model": T5,
        "max_pieces": 30,
    },
}


def content(task: str, storage: Path, **changes: Any) -> dict[str, Any]:
    """Return the experiment file of a task, sections replaced by `changes`."""
    return {
        "name": "tiny",
        "task": task,
        "storage": str(storage),
        "baseline": False,
        "training": {"max_tokens": 400, "max_epochs": 2},
        "execution": {"executor": "local", "device": "cpu", "threads": 1},
        "tracking": {"enabled": False},
        "health": {"stop": False},  # models of a few updates make no text that is of use
        **OF_TASK[task],
        **changes,
    }


def experiment(task: str, storage: Path, **changes: Any) -> Experiment:
    """Return the experiment of such a file."""
    return parse(content(task, storage, **changes))


def prepared(task: str, storage: Path, **changes: Any) -> Run:
    """Return the run of such an experiment, whose texts are made."""
    return prepare(experiment(task, storage, **changes), Store(storage))


def parameters_of(config: ModelSettings, vocabulary_size: int) -> int:
    """Return how many parameters a translation model would train; none of them is made."""
    import torch

    from trainables.nmt.model import _uninitialised

    with torch.device("meta"):
        model = _uninitialised(config, vocabulary_size, pad=0, eos=1)
    return sum(weight.numel() for weight in model.parameters() if weight.requires_grad)
