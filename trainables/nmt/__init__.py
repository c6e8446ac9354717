"""Neural machine translation: a Transformer over subwords, trained under any regime over views of the source."""

from __future__ import annotations

from augury.core.lazy import provide

__getattr__ = provide(__name__, {"TASK": "task"})
