"""Metric signatures in sacreBLEU's format, `key:value|key:value`, with those of the bootstrap."""

from __future__ import annotations

RESAMPLING = ("bs:", "seed:")


def with_resampling(signature: str, samples: int, seed: int) -> str:
    """Return a signature with the number of bootstrap samples and the seed.

    They follow the number of references, as in sacreBLEU.
    """
    parts = without_resampling(signature).split("|")
    start = 1 if parts[0].startswith("nrefs:") else 0
    return "|".join([*parts[:start], f"bs:{samples}", f"seed:{seed}", *parts[start:]])


def without_resampling(signature: str) -> str:
    """Return a signature without bootstrap samples and seed, which do not affect the value."""
    return "|".join(part for part in signature.split("|") if not part.startswith(RESAMPLING))


def with_references(signature: str, count: int) -> str:
    """Return a signature with the number of references, which some metrics leave out if it is 1."""
    parts = signature.split("|")
    if parts[0].startswith("nrefs:"):
        return "|".join([f"nrefs:{count}", *parts[1:]])
    return signature if count == 1 else f"nrefs:{count}|{signature}"
