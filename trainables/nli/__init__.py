"""Natural language inference: a classifier of sentence pairs, trained under any regime over copies of an example."""

from __future__ import annotations

from augury.core.lazy import provide

EXAMPLE = r"printf 'Two dogs run.\tAnimals move.\n'"

__getattr__ = provide(
    __name__,
    {
        "Config": "config",
        "address": "preparation",
        "check": "preflight",
        "classify": "evaluation",
        "outputs": "evaluation",
        "export": "evaluation",
        "prepare": "preparation",
        "probabilities": "evaluation",
        "size": "preflight",
        "train_loop": "task",
        "translate": "evaluation",
    },
)
