"""Random choices determined by a key, so that the languages are the same in all processes and on
all machines."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Generic, TypeVar

import numpy as np

T = TypeVar("T")
Draw = Callable[[], float]  # returns the next number of a random stream, uniform on [0, 1)

# Of the Zipf-Mandelbrot law: rank r = 0, 1, ... has weight (r + SHIFT) ** -EXPONENT.
EXPONENT, SHIFT = 1.3, 3.0


def generator(*key: str | int) -> np.random.Generator:
    """Return a counter-based generator determined by `key`."""
    text = json.dumps(key, ensure_ascii=False, separators=(",", ":"))
    digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest, "little")))


class Zipf(Generic[T]):
    """Items in order of decreasing frequency."""

    def __init__(self, items: Sequence[T]):
        self.items = items
        weights = list(accumulate((rank + SHIFT) ** -EXPONENT for rank in range(len(items))))
        self._cumulative = [weight / weights[-1] for weight in weights]

    def pick(self, draw: Draw) -> T:
        """Return a random item by frequency."""
        return self.items[bisect_right(self._cumulative, draw())]


class Drawer:
    """Draws from a random stream."""

    def __init__(self, draw: Draw):
        self.draw = draw

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self.draw() < probability

    def one_of(self, items: Sequence[T]) -> T:
        """Return a uniformly random item."""
        return items[int(self.draw() * len(items))]
