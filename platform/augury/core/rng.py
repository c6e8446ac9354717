"""Randomness as a function of the record.

A stream is named by `(seed, operator, operator configuration, record id, copy or epoch)` and is counter-based
(Philox), so that results do not depend on workers, order of arrival, block sizes, retries or restarts.
"""

from __future__ import annotations

import hashlib
import json

import numpy as np

Key = str | int | float | bool | None


def digest(*key: Key | list | tuple | dict, size: int = 16) -> bytes:
    """`size` bytes that identify `key`; equal keys give equal bytes in every process and on every machine."""
    text = json.dumps(key, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return hashlib.blake2b(text.encode(), digest_size=size).digest()


def generator(*key: Key | list | tuple | dict) -> np.random.Generator:
    """A generator whose whole stream is determined by `key`."""
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest(*key), "little")))


def seed_of(*key: Key | list | tuple | dict) -> int:
    """A 63-bit seed for libraries that take an integer (torch, sentencepiece)."""
    return int.from_bytes(digest(*key, size=8), "little") >> 1
