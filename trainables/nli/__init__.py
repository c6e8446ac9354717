"""Natural language inference: a classifier of sentence pairs, trained under any regime over copies of an example.

What the package provides (`augury.trainable.Trainable`) is imported when it is asked for, so that a worker that only
tokenises does not load torch.
"""

from __future__ import annotations

import importlib
from typing import Any

EXAMPLE = r"printf 'Two dogs run.\tAnimals move.\n'"

_PROVIDED = {
    "Config": "config",
    "address": "preparation",
    "classify": "evaluation",
    "evaluate": "evaluation",
    "export": "evaluation",
    "prepare": "preparation",
    "probabilities": "evaluation",
    "train_loop": "task",
    "translate": "evaluation",
}


def __getattr__(name: str) -> Any:
    if name not in _PROVIDED:
        raise AttributeError(f"module 'trainables.nli' has no attribute '{name}'")
    return getattr(importlib.import_module(f"trainables.nli.{_PROVIDED[name]}"), name)
