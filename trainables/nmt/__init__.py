"""Neural machine translation: a Transformer over subwords, trained under any regime over enciphered views.

What the package provides (`augury.trainable.Trainable`) is imported when it is asked for, so that a worker that only
tokenises does not load torch.
"""

from __future__ import annotations

import importlib
from typing import Any

EXAMPLE = "echo 'ein Satz'"

_PROVIDED = {
    "Config": "config",
    "address": "preparation",
    "evaluate": "evaluation",
    "export": "evaluation",
    "prepare": "preparation",
    "train_loop": "task",
    "translate": "evaluation",
}


def __getattr__(name: str) -> Any:
    if name not in _PROVIDED:
        raise AttributeError(f"module 'trainables.nmt' has no attribute '{name}'")
    return getattr(importlib.import_module(f"trainables.nmt.{_PROVIDED[name]}"), name)
