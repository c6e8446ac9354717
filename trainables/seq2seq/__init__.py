"""Text to text: any encoder-decoder of `transformers`, fine-tuned on pairs, which augmentation draws from."""

from __future__ import annotations

from augury.core.lazy import provide

EXAMPLE = "echo 'But we lack new resources.'"

__getattr__ = provide(
    __name__,
    {
        "Config": "config",
        "address": "preparation",
        "check": "preflight",
        "outputs": "evaluation",
        "export": "evaluation",
        "prepare": "preparation",
        "sampler": "evaluation",
        "size": "preflight",
        "train_loop": "task",
        "translate": "evaluation",
    },
)
