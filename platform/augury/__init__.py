"""Augury: which text augmentation helps on my data, by how much, is the difference real, and
what did it cost?"""

from __future__ import annotations

from typing import Any

__version__ = "0.2.0"
__all__ = ["apply", "compare", "operator", "recommend", "results", "run", "sweep"]


def __getattr__(name: str) -> Any:
    """Return what `augury.api` has of that name, imported when it is asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'augury' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module("augury.api"), name)
