"""The points of a search space: a grid, random draws, and names for people."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from augury.core.errors import UserError
from augury.core.rng import generator
from augury.sweeping.space import Space

DIGITS = 4  # of a number that is drawn


def sample(space: Space, samples: int | None = None) -> list[dict[str, Any]]:
    """Return the points of a grid or random search, in a fixed order.

    Where keys have domains, every point of the grid over the others is drawn `samples` times. A draw depends on its
    number alone, so that more samples keep the earlier points.
    """
    if not space.domains:
        if samples is not None:
            raise UserError(f"--samples {samples}: space '{space.name}' is a grid and has no values to draw")
        return list(_grid(space.grid)) if space.grid else []
    if samples is None:
        names = ", ".join(space.domains)
        raise UserError(f"space '{space.name}' draws {names}: say how many points with --samples N")
    return [point | _drawn(space, number, point) for number in range(samples) for point in _grid(space.grid)]


def _grid(values: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    for chosen in itertools.product(*values.values()):
        yield dict(zip(values, chosen, strict=True))


def _drawn(space: Space, number: int, point: Mapping[str, Any]) -> dict[str, Any]:
    drawn = {}
    for key, domain in space.domains.items():
        random = generator("point", space.name, space.scale, key, number, json.dumps(point, sort_keys=True))
        drawn[key] = rounded(domain.sample(random_state=random))
    return drawn


def rounded(value: Any) -> Any:
    """Return a drawn value as plain data, numbers rounded to four significant digits."""
    if hasattr(value, "item"):
        value = value.item()
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
