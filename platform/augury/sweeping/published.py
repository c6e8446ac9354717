"""The contract of a paper's table, and finding one by name or by path.

A paper's table is a search space of rows (see `space`) whose module also has:

- `paper`: what is cited, one line;
- `where`: where the values are printed (`Table 2`);
- `published`: row -> test set, or `mean` for the mean over all test sets -> the value that is printed. A value that is
  not known is left out. A row that is not in `rows` is printed in the paper and not run here;
- `tolerance`: how far a measured value may lie from the published one, in points;
- `deviations`: scale -> what is not as in the paper at this scale, a line each;
- optional `literature`: row -> where -> a value of the same system that is printed elsewhere, or of another quantity;
- optional `unavailable`: row that is not in `rows` -> why.

Values compare at the scale `paper` alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from augury.errors import UserError, unknown
from augury.sweeping import space as spaces
from augury.sweeping.space import Space

REQUIRED = ("paper", "where", "published", "tolerance", "deviations")
FULL_SCALE = "paper"


@dataclass(frozen=True)
class Published:
    """A paper's table: its rows as configurations, and what the paper prints."""

    name: str
    """`xnli_adversarial/table2`, or the path of a file."""
    space: Space
    paper: str
    where: str
    values: Mapping[str, Mapping[str, float]]
    """Row -> test set or `mean` -> value; what is not known is not in it."""
    tolerance: float
    deviations: tuple[str, ...]
    """From the paper, at the scale of the space."""
    literature: Mapping[str, Mapping[str, float]]
    """Row -> where -> value."""
    unavailable: Mapping[str, str]

    @property
    def comparable(self) -> bool:
        """Whether the scale is that of the paper."""
        return self.space.scale == FULL_SCALE

    @property
    def rows(self) -> list[str]:
        """All rows: those that can be run, then those that the paper alone has."""
        return list(dict.fromkeys([*self.space.rows, *self.values]))


def find(name: str, scale: str | None = None) -> Published:
    """The table called `name`, as `<paper>/<table>` or the path of a file, at a scale; UserError names the nearest."""
    if not name.endswith(".py") and name not in spaces.tables():
        raise unknown("table", name, spaces.tables())
    module = spaces.load(name)
    missing = [each for each in REQUIRED if not hasattr(module, each)]
    if missing:
        raise UserError(f"table '{name}' lacks {', '.join(missing)}: beside a space it defines {', '.join(REQUIRED)}")
    space = spaces.read(module, name, scale)
    if not isinstance(space.reference, str):
        raise UserError(f"table '{name}': the reference must be one of its rows, {', '.join(space.rows)}")
    unavailable = getattr(module, "unavailable", {})
    strange = [row for row in module.published if row not in space.rows and row not in unavailable]
    if strange:
        raise UserError(
            f"table '{name}' has published values for '{strange[0]}', which is not in rows: add the row, or say in "
            "'unavailable' why it is not run"
        )
    return Published(
        name=name, space=space, paper=module.paper, where=module.where, values=_known(module.published),
        tolerance=module.tolerance, deviations=tuple(module.deviations.get(space.scale, ())),
        literature=getattr(module, "literature", {}), unavailable=unavailable,
    )  # fmt: skip


def _known(published: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    return {row: {column: value for column, value in values.items() if value is not None}
            for row, values in published.items()}  # fmt: skip
