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
TICKS, APART = 8, 0.07  # so many values are written at an axis, so far apart; else Plotly chooses round numbers


@dataclass(frozen=True)
class Axis:
    """A swept key; positions are the values themselves where they are numbers on a scale, else their ranks."""

    key: str
    name: str
    """As much of the key as tells it apart."""
    kind: Literal["linear", "log", "ordinal", "category"]
    """ordinal: numbers at equal distances; category: anything else."""
    values: tuple[Any, ...]
    """Those that occur, in order."""

    def has(self, configuration: Configuration) -> bool:
        """Tell whether the configuration has a value here; a plain baseline beside the space has none."""
        return self.key in configuration.point

    def index(self, configuration: Configuration) -> int:
        """Return the position of the configuration's value in `values`."""
        return self.values.index(configuration.point[self.key])

    def position(self, index: int) -> float:
        """Return the position of a value on the axis."""
        return float(self.values[index]) if self.kind in ("linear", "log") else float(index)

    def share(self, position: float) -> float:
        """Return a position as a share of the axis, from 0 to 1."""
        scale = math.log if self.kind == "log" else float
        low, high = scale(self.position(0)), scale(self.position(len(self.values) - 1))
        return (scale(position) - low) / (high - low) if high > low else 0.5

    def label(self, index: int) -> str:
        """Return a value for people."""
        return value_text(self.values[index])

    def ticks(self) -> dict[float, str]:
        """Return the position and text of every value; nothing where there is no room for all."""
        shares = [self.share(self.position(index)) for index in range(len(self.values))]
        apart = min((after - before for before, after in zip(shares, shares[1:], strict=False)), default=1.0)
        if self.kind != "category" and (len(self.values) > TICKS or apart < APART):
            return {}
        return {self.position(index): self.label(index) for index in range(len(self.values))}


def axes(keys: Sequence[str], configurations: Sequence[Configuration]) -> list[Axis]:
    """Return the axes of the keys for which any configuration has a value."""
    points = [configuration.point for configuration in configurations]
    known = [
        _axis(key, name, [point[key] for point in points if key in point])
        for key, name in zip(keys, short_names(keys), strict=True)
    ]
    return [axis for axis in known if axis.values]


def short_names(keys: Sequence[str]) -> list[str]:
    """Return as much of the dotted keys as tells them apart, as in the names of configurations."""
    words = [([part for part in key.split(".") if not part.isdigit()] or [key])[-1] for key in keys]
    return [word if words.count(word) == 1 else key for word, key in zip(words, keys, strict=True)]


def value_text(value: Any) -> str:
    """Return a swept value for people, as in the names of configurations."""
    return title({"value": value}).partition("=")[2]


def _axis(key: str, name: str, values: Sequence[Any]) -> Axis:
    numeric = bool(values) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    if not numeric:
        return Axis(key, name, "category", tuple({json.dumps(v, sort_keys=True): v for v in values}.values()))
    ordered = tuple(sorted(set(values)))
    if not _crowded(ordered):
        return Axis(key, name, "linear", ordered)
    # a logarithm has no room for zero: where there is one, the values are at equal distances
    return Axis(key, name, "log" if ordered[0] > 0 else "ordinal", ordered)


def _crowded(values: Sequence[float]) -> bool:
    """Tell whether ascending values span much and crowd at the low end of a linear scale."""
    positive = [value for value in values if value > 0]
    if values[0] < 0 or len(positive) < 2 or positive[-1] / positive[0] < RATIO:
        return False
    return (statistics.median(values) - values[0]) / (values[-1] - values[0]) < 0.25
