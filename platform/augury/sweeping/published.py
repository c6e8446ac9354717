"""The contract of a paper's table, and finding one by name or by path.

A paper's table is a search space of rows (see `space`) whose module also has:

- `paper`: what is cited, one line;
- `where`: where the values are printed (`Table 2`);
- `published`: the printed table, read from the paper's file (see `printed`), or a mapping: row -> test set, or `mean`
  for the mean over all test sets -> value, None where it is not known; or a function from the scale's name to either;
- `tolerance`: how far a measured value may lie from the published one, in points;
- `deviations`: scale -> what is not as in the paper at this scale, a line each;
- optional `improvements`: printed row -> (row, other row): what is printed is by how many per cent the first is above
  the other, which is computed from the two and not run;
- optional `rescored`: printed row -> (row, metric): the outputs of a row, scored by another of its metrics, such as one
  with a step before it; or a function from the scale's name to that;
- optional `unavailable`: printed row that is none of these -> why it is not run; or a function from the scale's name to
  that;
- optional `literature`: row -> where -> a value of the same system that is printed elsewhere, or of another quantity;
- optional `measure`, of a table that is not one of scores: a function from a finished run, opened for analysis
  (`augury.analysis.system.System`), to printed column -> value; and `sentences`: scale -> the most test sentences that
  it looks at.

Values compare at the scale `paper` alone. A scale can have several corpora, each a scale of its own: `paper` has the
first one, `paper/iwslt17-fr-en` another. What is said of `paper` in `deviations` holds for them as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from augury.core.errors import UserError, unknown
from augury.scoring.metrics import title
from augury.sweeping import printed
from augury.sweeping import space as spaces
from augury.sweeping.printed import PrintedTable
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
    printed: PrintedTable
    tolerance: float
    deviations: tuple[str, ...]
    """From the paper, at the scale of the space."""
    improvements: Mapping[str, tuple[str, str]]
    """Row -> the rows of which it is the relative improvement in per cent, the better one first."""
    rescored: Mapping[str, tuple[str, str]]
    """Row -> the row whose outputs it scores, and the metric."""
    unavailable: Mapping[str, str]
    literature: Mapping[str, Mapping[str, float]]
    """Row -> where -> value."""
    measure: Callable[[Any], Mapping[str, float]] | None = None
    """From a finished run to printed column -> value; none where scores are printed."""
    sentences: int | None = None
    """The most test sentences that `measure` looks at."""

    @property
    def comparable(self) -> bool:
        """Return whether the scale is that of the paper."""
        return self.space.scale.partition("/")[0] == FULL_SCALE

    @property
    def rows(self) -> list[str]:
        """Return all rows: those of the print in its order, then those that are run beside them."""
        return list(dict.fromkeys([*self.printed.rows, *self.space.rows]))

    def values(self, row: str) -> Mapping[str, float]:
        """Return what is printed of a row: test set, or `mean` -> value."""
        return self.printed.rows[row].values if row in self.printed.rows else {}

    def reason(self, row: str) -> str:
        """Return why a row that is not among those of the space is not run."""
        if row in self.improvements:
            return "computed: by how many per cent '{}' is above '{}'".format(*self.improvements[row])
        if row in self.rescored:
            of, metric = self.rescored[row]
            return f"the outputs of '{of}', scored by {title(metric)}"
        return self.unavailable[row]


def find(name: str, scale: str | None = None, corpus: str | None = None) -> Published:
    """Return the table `<paper>/<table>`, or that in a file, at a scale; UserError names the nearest.

    `corpus` is one of those that the scale has beside its first.
    """
    if not name.endswith(".py") and name not in spaces.tables():
        raise unknown("table", name, spaces.tables())
    module = spaces.load(name)
    missing = [attribute for attribute in REQUIRED if not hasattr(module, attribute)]
    if missing:
        raise UserError(f"table '{name}' lacks {', '.join(missing)}: beside a space it defines {', '.join(REQUIRED)}")
    if corpus is not None:
        scale = _with_corpus(name, module, scale, corpus)
    space = spaces.read(module, name, scale)
    if not isinstance(space.reference, str):
        raise UserError(f"table '{name}': the reference must be one of its rows, {', '.join(space.rows)}")
    table = Published(
        name=name,
        space=space,
        paper=module.paper,
        where=module.where,
        printed=_printed(module, space.scale),
        tolerance=module.tolerance,
        deviations=tuple(module.deviations.get(space.scale, module.deviations.get(space.scale.partition("/")[0], ()))),
        improvements=getattr(module, "improvements", {}),
        rescored=_at_scale(getattr(module, "rescored", {}), space.scale),
        unavailable=_at_scale(getattr(module, "unavailable", {}), space.scale),
        literature=getattr(module, "literature", {}),
        measure=getattr(module, "measure", None),
        sentences=getattr(module, "sentences", {}).get(space.scale),
    )
    _check_rows(table)
    return table


def _with_corpus(name: str, module: ModuleType, scale: str | None, corpus: str) -> str:
    """Return the scale with this corpus."""
    scale = scale or next(iter(module.scales))
    corpora = [other.partition("/")[2] for other in module.scales if other.startswith(f"{scale}/")]
    if not corpora:
        raise UserError(f"table '{name}' has one corpus at scale {scale}: leave out --corpus")
    if corpus not in corpora:
        raise unknown(f"corpus of table '{name}' at scale {scale}, beside its first,", corpus, corpora)
    return f"{scale}/{corpus}"


def _printed(module: ModuleType, scale: str) -> PrintedTable:
    published = _at_scale(module.published, scale)
    return published if isinstance(published, PrintedTable) else printed.of_values(published)


def _at_scale(value: Any, scale: str) -> Any:
    return value(scale) if callable(value) else value


def _check_rows(table: Published) -> None:
    """Refuse a printed row that is neither run, computed nor unavailable, and one computed from others than those."""
    run = table.space.rows
    known = {*run, *table.improvements, *table.rescored, *table.unavailable}
    strange = [row for row in table.printed.rows if row not in known]
    if strange:
        raise UserError(
            f"table '{table.name}' has published values for '{strange[0]}', which is not in rows: add the row, or say "
            "in 'unavailable' why it is not run"
        )
    used = {"improvements": [row for pair in table.improvements.values() for row in pair]}
    used["rescored rows"] = [row for row, _ in table.rescored.values()]
    for what, rows in used.items():
        for row in rows:
            if row not in run:
                raise unknown(f"row in the {what} of table '{table.name}'", row, run)
