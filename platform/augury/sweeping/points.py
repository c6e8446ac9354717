"""The points of a search space: a grid and random draws."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from augury.core.errors import UserError
from augury.core.rng import generator
from augury.sweeping.space import Space

SIGNIFICANT_DIGITS = 4


def sample(space: Space, samples: int | None = None) -> list[dict[str, Any]]:
    """Return the points of a grid or random search in a fixed order.

    If some keys have domains, draws `samples` values for every point of the grid over the other
    keys. A draw depends only on its number, so that increasing `samples` keeps the earlier points.
    Raises UserError if `samples` is given for a grid or missing for domains.
    """
    if not space.domains:
        if samples is not None:
            raise UserError(
                f"--samples {samples}: space '{space.name}' is a grid without domains; leave out "
                "--samples"
            )
        return list(_grid(space.grid)) if space.grid else []
    if samples is None:
        names = ", ".join(space.domains)
        raise UserError(
            f"space '{space.name}' draws {names}: give the number of points with --samples N"
        )
    points = []
    for number in range(samples):
        points += [point | _draw(space, number, point) for point in _grid(space.grid)]
    return points


def rounded(value: Any) -> Any:
    """Return a drawn value as plain Python data, floats rounded to four significant digits."""
    if hasattr(value, "item"):
        value = value.item()
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}") if isinstance(value, float) else value


def _grid(values: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    for combination in itertools.product(*values.values()):
        yield dict(zip(values, combination, strict=True))


def _draw(space: Space, number: int, point: Mapping[str, Any]) -> dict[str, Any]:
    values = {}
    for key, domain in space.domains.items():
        random = generator(
            "point", space.name, space.scale, key, number, json.dumps(point, sort_keys=True)
        )
        values[key] = rounded(domain.sample(random_state=random))
    return values
