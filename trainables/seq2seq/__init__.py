"""Text to text: any encoder-decoder of `transformers`, fine-tuned on pairs, which augmentation draws from."""

from __future__ import annotations

from augury.core.lazy import provide

__getattr__ = provide(__name__, {"TASK": "task"})
