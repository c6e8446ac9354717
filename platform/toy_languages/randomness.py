"""Random generators determined by a key, so that the languages are the same in all processes and
on all machines."""

from __future__ import annotations

import hashlib
import json

import numpy as np


def generator(*key: str | int) -> np.random.Generator:
    """Return a counter-based generator determined by `key`."""
    text = json.dumps(key, ensure_ascii=False, separators=(",", ":"))
    digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest, "little")))
