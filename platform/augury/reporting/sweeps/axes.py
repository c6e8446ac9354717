"""The swept keys as axes: numbers on a linear or logarithmic scale, anything else as categories."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from augury.core.naming import is_whole, title

RATIO = 20.0
"""The ratio of the largest to the smallest value from which an axis may be logarithmic."""
CROWDED = 0.25
"""Such values crowd on a linear axis if their median lies within this share of it."""
TICKS = 8
"""The maximum number of values written at an axis; for more, Plotly chooses round numbers."""


@dataclass(frozen=True)
class Axis:
    """A swept key; positions are the values themselves where they are numbers on a scale, else
    their ranks."""

    key: str
    name: str
    """The shortest part of the key that is unique."""
    kind: Literal["linear", "log", "ordinal", "category"]
    """ordinal: numbers at equal distances; category: anything else."""
    values: tuple[Any, ...]
    """The values that occur, sorted."""

    def index(self, point: Mapping[str, Any]) -> int | None:
        """Return the rank of a point's value; None where it has none, such as a baseline outside
        the space."""
        return self.values.index(point[self.key]) if self.key in point else None

    def position(self, index: int) -> float:
        """Return the position of a value on the axis."""
        return float(self.values[index]) if self.kind in ("linear", "log") else float(index)

    def label(self, index: int) -> str:
        """Return a value for people."""
        return value_text(self.values[index])

    def ticks(self) -> dict[float, str]:
        """Return position and text of every value; empty where there are too many numbers."""
        if self.kind != "category" and len(self.values) > TICKS:
            return {}
        return {self.position(index): self.label(index) for index in range(len(self.values))}


def axes(keys: Sequence[str], points: Sequence[Mapping[str, Any]]) -> list[Axis]:
    """Return the axes of the keys for which any point has a value."""
    known = [
        _axis(key, name, [point[key] for point in points if key in point])
        for key, name in zip(keys, short_names(keys), strict=True)
    ]
    return [axis for axis in known if axis.values]


def short_names(keys: Sequence[str]) -> list[str]:
    """Return the shortest unique parts of dotted keys, as in the names of configurations."""
    words = [([part for part in key.split(".") if not is_whole(part)] or [key])[-1] for key in keys]
    return [word if words.count(word) == 1 else key for word, key in zip(words, keys, strict=True)]


def value_text(value: Any) -> str:
    """Return a swept value for people, as in the names of configurations."""
    return title({"value": value}).partition("=")[2]


def _axis(key: str, name: str, values: Sequence[Any]) -> Axis:
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return Axis(
            key,
            name,
            "category",
            tuple({json.dumps(v, sort_keys=True): v for v in values}.values()),
        )
    ordered = tuple(sorted(set(values)))
    positive = [value for value in ordered if value > 0]
    wide = len(positive) > 1 and ordered[0] >= 0 and positive[-1] / positive[0] >= RATIO
    if (
        not wide
        or (statistics.median(ordered) - ordered[0]) / (ordered[-1] - ordered[0]) >= CROWDED
    ):
        return Axis(key, name, "linear", ordered)
    # A logarithmic axis cannot show zero: with it, the values are at equal distances.
    return Axis(key, name, "log" if ordered[0] > 0 else "ordinal", ordered)
