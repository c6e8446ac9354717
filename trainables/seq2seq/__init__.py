"""Text to text: any encoder-decoder of `transformers`, fine-tuned on pairs, which augmentation draws from.

What the package provides (`augury.trainable.Trainable`) is imported when it is asked for, so that a worker that only
tokenises does not load torch.
"""

from __future__ import annotations

import importlib
from typing import Any

EXAMPLE = "echo 'But we lack new resources.'"

_PROVIDED = {
    "Config": "config",
    "address": "preparation",
    "evaluate": "evaluation",
    "export": "evaluation",
    "prepare": "preparation",
    "sampler": "evaluation",
    "train_loop": "task",
    "translate": "evaluation",
}


def __getattr__(name: str) -> Any:
    if name not in _PROVIDED:
        raise AttributeError(f"module 'trainables.seq2seq' has no attribute '{name}'")
    return getattr(importlib.import_module(f"trainables.seq2seq.{_PROVIDED[name]}"), name)
