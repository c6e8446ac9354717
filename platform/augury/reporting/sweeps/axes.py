"""The swept keys as axes: numbers on a linear or logarithmic scale, anything else as categories."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from augury.core.naming import title
from augury.sweeping.state import Configuration

RATIO = 20.0  # of the greatest to the least value, from which an axis may be logarithmic
TICKS, APART = 8, 0.07  # so many values are written at an axis, so far apart; else round numbers


@dataclass(frozen=True)
class Axis:
    """A swept key; its places are the values themselves where they are numbers on a scale, else their positions."""

    key: str
    name: str
    """As much of the key as tells it apart."""
    kind: Literal["linear", "log", "ordinal", "category"]
    """ordinal: numbers at equal distances; category: anything else."""
    values: tuple[Any, ...]
    """Those that occur, in order."""

    def has(self, configuration: Configuration) -> bool:
        """Whether the configuration has a value here; a plain baseline beside the space has none."""
        return self.key in configuration.point

    def index(self, configuration: Configuration) -> int:
        """The position of the configuration's value in `values`."""
        return self.values.index(configuration.point[self.key])

    def place(self, index: int) -> float:
        """Where a value lies."""
        return float(self.values[index]) if self.kind in ("linear", "log") else float(index)

    def share(self, place: float) -> float:
        """A place as a share of the axis, from 0 to 1."""
        scale = math.log if self.kind == "log" else float
        low, high = scale(self.place(0)), scale(self.place(len(self.values) - 1))
        return (scale(place) - low) / (high - low) if high > low else 0.5

    def label(self, index: int) -> str:
        """A value for people."""
        return said(self.values[index])

    def ticks(self) -> dict[float, str]:
        """Places, and what is written there: the values where there is room for them, else round numbers."""
        every = range(len(self.values))
        shares = [self.share(self.place(index)) for index in every]
        apart = min((after - before for before, after in zip(shares, shares[1:], strict=False)), default=1.0)
        if self.kind == "category" or (len(self.values) <= TICKS and apart >= APART):
            return {self.place(index): self.label(index) for index in every}
        if self.kind == "ordinal":
            return {self.place(index): self.label(index) for index in every[:: 1 + len(self.values) // TICKS]}
        low, high = self.values[0], self.values[-1]
        chosen = _decades(low, high) if self.kind == "log" else _steps(low, high)
        return {value: f"{value:g}" for value in chosen if low <= value <= high}


def axes(keys: Sequence[str], configurations: Sequence[Configuration]) -> list[Axis]:
    """The axes of the keys for which any configuration has a value."""
    found = [
        _axis(key, name, [each.point[key] for each in configurations if key in each.point])
        for key, name in zip(keys, short_names(keys), strict=True)
    ]
    return [axis for axis in found if axis.values]


def short_names(keys: Sequence[str]) -> list[str]:
    """As much of the dotted keys as tells them apart, as in the names of configurations."""
    words = [([part for part in key.split(".") if not part.isdigit()] or [key])[-1] for key in keys]
    return [word if words.count(word) == 1 else key for word, key in zip(words, keys, strict=True)]


def said(value: Any) -> str:
    """A swept value for people, as in the names of configurations."""
    return title({"value": value}).partition("=")[2]


def _axis(key: str, name: str, values: Sequence[Any]) -> Axis:
    numeric = bool(values) and all(isinstance(each, int | float) and not isinstance(each, bool) for each in values)
    if not numeric:
        return Axis(key, name, "category", tuple({json.dumps(each, sort_keys=True): each for each in values}.values()))
    ordered = tuple(sorted(set(values)))
    if not _crowded(ordered):
        return Axis(key, name, "linear", ordered)
    # a logarithm has no place for zero: where there is one, the values stand at equal distances
    return Axis(key, name, "log" if ordered[0] > 0 else "ordinal", ordered)


def _crowded(values: Sequence[float]) -> bool:
    """Whether ascending values span much and stand close to the low end on a linear scale."""
    positive = [value for value in values if value > 0]
    if values[0] < 0 or len(positive) < 2 or positive[-1] / positive[0] < RATIO:
        return False
    return (statistics.median(values) - values[0]) / (values[-1] - values[0]) < 0.25


def _decades(low: float, high: float) -> list[float]:
    """1, 2, 5 of every decade, or 1 alone where there are many."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    digits = (1, 2, 5) if math.log10(high / low) <= 2.5 else (1,)
    return [float(f"{digit}e{power}") for power in range(first, last + 1) for digit in digits]


def _steps(low: float, high: float) -> list[float]:
    """Multiples of 1, 2 or 5 of a power of ten, some five of them."""
    power = 10.0 ** math.floor(math.log10((high - low) / 4))
    step = next(step for digit in (1, 2, 5, 10) if (high - low) / (step := digit * power) <= 6)
    return [float(f"{step * count:.12g}") for count in range(math.ceil(low / step), math.floor(high / step) + 1)]
