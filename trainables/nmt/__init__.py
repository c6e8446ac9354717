"""Neural machine translation: a Transformer over subwords, trained under any regime over enciphered views."""

from __future__ import annotations

from augury.core.lazy import provide

EXAMPLE = "echo 'ein Satz'"

__getattr__ = provide(
    __name__,
    {
        "Config": "config",
        "address": "preparation",
        "check": "preflight",
        "outputs": "evaluation",
        "export": "exporting",
        "prepare": "preparation",
        "size": "preflight",
        "train_loop": "task",
        "translate": "evaluation",
    },
)
