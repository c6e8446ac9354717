"""Counter-based random numbers, keyed by record.

A stream is keyed by `(seed, operator, operator configuration, record id, copy or epoch)`, so that
results do not depend on workers, order, block sizes, retries or restarts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import numpy as np

Key = str | int | float | bool | None


def digest(*key: Key | list | tuple | dict, size: int = 16) -> bytes:
    """Return a hash of `size` bytes that is the same in every process and on every machine."""
    text = json.dumps(
        key, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    return hashlib.blake2b(text.encode(), digest_size=size).digest()


def generator(*key: Key | list | tuple | dict) -> np.random.Generator:
    """Return a Philox generator seeded with `key`."""
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest(*key), "little")))


def seed_of(*key: Key | list | tuple | dict) -> int:
    """Return a 63-bit seed for libraries that take an integer (torch, sentencepiece)."""
    return int.from_bytes(digest(*key, size=8), "little") >> 1


def keys_of(names: Sequence[str], *key: Key | list | tuple | dict) -> np.ndarray:
    """Return a 64-bit key for each name under `key`, (names,) uint64, for `uniform`."""
    return np.frombuffer(b"".join(digest(*key, name, size=8) for name in names), "<u8")


def uniform(keys: np.ndarray, stream: int, count: int) -> np.ndarray:
    """Return `count` numbers in [0, 1) from a stream (an epoch, a copy) of each key, (keys, count)
    float64.

    SplitMix64 (Steele, Lea and Flood 2014), vectorised over keys; the numbers of a key do not
    depend on other keys.
    """
    with np.errstate(over="ignore"):
        steps = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GOLDEN)
        return unit_interval(_mix(fold_in(keys, stream)[:, None] + steps))


def unit_interval(numbers: np.ndarray) -> np.ndarray:
    """Return random uint64 as float64 in [0, 1)."""
    return (numbers >> np.uint64(11)).astype(np.float64) * 2.0**-53


def fold_in(keys: np.ndarray, number: int | np.ndarray) -> np.ndarray:
    """Derive an independent key from each key and a number, one for all or one each (as
    `jax.random.fold_in`)."""
    with np.errstate(over="ignore"):
        numbers = np.atleast_1d(np.asarray(number, np.uint64)) + np.uint64(GOLDEN)
        return _mix(keys.astype(np.uint64) + _mix(numbers))


GOLDEN = 0x9E3779B97F4A7C15  # the increment of SplitMix64


def _mix(state: np.ndarray) -> np.ndarray:
    """Return the output function of SplitMix64."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
