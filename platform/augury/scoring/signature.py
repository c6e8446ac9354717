"""Signatures as sacreBLEU writes them: `key:value` with `|` between; what was resampled, and how, is part of them."""

from __future__ import annotations

RESAMPLING = ("bs:", "seed:")


def with_resampling(signature: str, samples: int, seed: int) -> str:
    """Return a signature with the number of bootstrap samples and the seed behind the number of references."""
    parts = measure(signature).split("|")
    place = 1 if parts[0].startswith("nrefs:") else 0
    return "|".join([*parts[:place], f"bs:{samples}", f"seed:{seed}", *parts[place:]])


def measure(signature: str) -> str:
    """Return what a value depends on: a signature without samples and seed, which decide its interval alone."""
    return "|".join(part for part in signature.split("|") if not part.startswith(RESAMPLING))
