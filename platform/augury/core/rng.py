"""Randomness as a function of the record.

A stream is named by `(seed, operator, operator configuration, record id, copy or epoch)` and is counter-based
(Philox), so that results do not depend on workers, order of arrival, block sizes, retries or restarts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import numpy as np

Key = str | int | float | bool | None


def digest(*key: Key | list | tuple | dict, size: int = 16) -> bytes:
    """Return `size` bytes that identify `key`; equal keys give equal bytes in every process and on every machine."""
    text = json.dumps(key, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return hashlib.blake2b(text.encode(), digest_size=size).digest()


def generator(*key: Key | list | tuple | dict) -> np.random.Generator:
    """Return a generator whose whole stream is determined by `key`."""
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest(*key), "little")))


def seed_of(*key: Key | list | tuple | dict) -> int:
    """Return a 63-bit seed for libraries that take an integer (torch, sentencepiece)."""
    return int.from_bytes(digest(*key, size=8), "little") >> 1


def keys_of(names: Sequence[str], *key: Key | list | tuple | dict) -> np.ndarray:
    """Return a 64-bit key (names,) uint64 for each name under `key`, for `uniform`."""
    return np.frombuffer(b"".join(digest(*key, name, size=8) for name in names), "<u8")


def uniform(keys: np.ndarray, turn: int, count: int) -> np.ndarray:
    """Return `count` numbers in [0, 1) for each key, (keys, count) float64, in a turn of its own (a pass, a copy).

    Counter-based (SplitMix64; Steele, Lea and Flood 2014), and for all keys at once: what a key gives does not
    depend on the others.
    """
    with np.errstate(over="ignore"):
        numbers = _mixed(nested(keys, turn)[:, None] + np.arange(1, count + 1, dtype=np.uint64) * GOLDEN)
    return (numbers >> np.uint64(11)).astype(np.float64) * 2.0**-53


def nested(keys: np.ndarray, number: int) -> np.ndarray:
    """Return the key (keys,) uint64 of a number (a turn, a stream) under each key, independent of all others."""
    with np.errstate(over="ignore"):
        return _mixed(keys.astype(np.uint64) + _mixed(np.array([number], np.uint64) + GOLDEN))


GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def _mixed(state: np.ndarray) -> np.ndarray:
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
