"""The interface of a paper's table, and loading one by name or path.

A paper's table is a search space of rows (see `space`) whose module also defines:

- `paper`: the citation, one line;
- `where`: the location of the values in the paper (`Table 2`);
- `published`: the printed table, read from the paper's file (see `printed`), or a mapping row ->
  test set, or `mean`
  for the mean over all test sets -> value or None; or a function from the scale's name to either;
- `tolerance`: the accepted difference between measured and published values, in points;
- `deviations`: scale -> list of deviations from the paper at this scale;
- optional `improvements`: printed row -> (row, other row), for rows that print the relative
  improvement of the first
  over the second in per cent; they are computed, not run;
- optional `rescored`: printed row -> (row, metric), for rows that print the outputs of another row
  scored by another of
  its metrics, such as one with a step before it; or a function from the scale's name to such a
  mapping;
- optional `assembled`: printed row -> column -> the row that is run for this column, for rows that
  print values of
  several systems, such as a model for each language; or a function from the scale's name to such a
  mapping;
- optional `unavailable`: printed row that is none of these -> why it is not run; or a function from
  the scale's name to
  such a mapping;
- optional `literature`: row -> location -> a value printed elsewhere for the same system, or of
  another quantity;
- optional `measure`, for tables of quantities other than scores: a function from a finished run,
  opened for analysis
  (`augury.analysis.system.System`), to printed column -> value; a quantity `TABLE | LINE | COLUMN` is shown
  there in a table of its own; and `sentences`: scale -> maximum number of test sentences it reads;
- optional `measure_with_reference`, used in place of `measure` for rows other than the reference: a
  function from the
  reference's run and the row's run of the same seed to printed column -> value;
- optional `measure_version`, raised where a table measures other values of the same runs (default:
  1).

Values are only comparable at the scale `paper`. A scale with several corpora is several scales:
`paper` has the first corpus, `paper/iwslt17-fr-en` another. The `deviations` of `paper` apply to
them as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from augury.core.errors import UserError, unknown
from augury.scoring.registry import title
from augury.sweeping import printed
from augury.sweeping import space as spaces
from augury.sweeping.printed import PrintedTable
from augury.sweeping.space import Space

REQUIRED = ("paper", "where", "published", "tolerance", "deviations")
FULL_SCALE = "paper"


@dataclass(frozen=True)
class Published:
    """A paper's table: its rows as configurations, and the printed values."""

    name: str
    """`xnli_adversarial/table2`, or the path of a file."""
    space: Space
    paper: str
    where: str
    printed: PrintedTable
    tolerance: float
    deviations: tuple[str, ...]
    """Deviations from the paper at the scale of the space."""
    improvements: Mapping[str, tuple[str, str]]
    """Row -> the pair of rows whose relative improvement in per cent it prints, the better one
    first."""
    rescored: Mapping[str, tuple[str, str]]
    """Row -> the row whose outputs it scores, and the metric."""
    assembled: Mapping[str, Mapping[str, str]]
    """Row -> column -> the row whose value it prints there."""
    unavailable: Mapping[str, str]
    """Row -> why it is not run."""
    literature: Mapping[str, Mapping[str, float]]
    """Row -> location -> value."""
    measure: Callable[[Any], Mapping[str, float]] | None = None
    """Finished run -> printed column -> value; None if the table prints scores."""
    measure_with_reference: Callable[[Any, Any], Mapping[str, float]] | None = None
    """The reference's run, and a run of another row with its seed -> printed column -> value;
    None: `measure` does."""
    measure_version: int = 1
    sentences: int | None = None
    """Maximum number of test sentences that `measure` reads."""

    @property
    def comparable(self) -> bool:
        """Return whether the scale is that of the paper."""
        return self.space.scale.partition("/")[0] == FULL_SCALE

    @property
    def rows(self) -> list[str]:
        """Return all rows: the printed ones in printed order, then those that are only run."""
        return list(dict.fromkeys([*self.printed.rows, *self.space.rows]))

    def values(self, row: str) -> Mapping[str, float]:
        """Return the printed values of a row, test set or `mean` -> value."""
        return self.printed.rows[row].values if row in self.printed.rows else {}

    def texts(self, row: str) -> Mapping[str, str]:
        """Return the same values as they are printed."""
        return self.printed.rows[row].texts if row in self.printed.rows else {}

    def reason(self, row: str) -> str:
        """Return why a printed row is not run."""
        if row in self.improvements:
            return "computed: relative improvement of '{}' over '{}' in per cent".format(
                *self.improvements[row]
            )
        if row in self.rescored:
            of, metric = self.rescored[row]
            return f"the outputs of '{of}', scored by {title(metric)}"
        if row in self.assembled:
            return "a system for each column: " + ", ".join(
                dict.fromkeys(self.assembled[row].values())
            )
        return self.unavailable[row]


def find(name: str, scale: str | None = None, corpus: str | None = None) -> Published:
    """Return the table `<paper>/<table>`, or that of a file, at a scale; UserError if there is none
    or it is invalid.

    `corpus` selects a corpus of the scale other than its first.
    """
    if not name.endswith(".py") and name not in spaces.tables():
        raise unknown("table", name, spaces.tables())
    module = spaces.load(name)
    missing = [attribute for attribute in REQUIRED if not hasattr(module, attribute)]
    if missing:
        raise UserError(
            f"table '{name}' lacks {', '.join(missing)}: a table also defines {', '.join(REQUIRED)}"
        )
    if corpus is not None:
        scale = _with_corpus(name, module, scale, corpus)
    space = spaces.read(module, name, scale)
    if not isinstance(space.reference, str):
        raise UserError(
            f"table '{name}': the reference must be one of its rows, {', '.join(space.rows)}"
        )
    table = Published(
        name=name,
        space=space,
        paper=module.paper,
        where=module.where,
        printed=_printed(module, space.scale),
        tolerance=module.tolerance,
        deviations=tuple(
            module.deviations.get(
                space.scale, module.deviations.get(space.scale.partition("/")[0], ())
            )
        ),
        improvements=getattr(module, "improvements", {}),
        rescored=_at_scale(getattr(module, "rescored", {}), space.scale),
        assembled=_at_scale(getattr(module, "assembled", {}), space.scale),
        unavailable=_at_scale(getattr(module, "unavailable", {}), space.scale),
        literature=getattr(module, "literature", {}),
        measure=getattr(module, "measure", None),
        measure_with_reference=getattr(module, "measure_with_reference", None),
        measure_version=getattr(module, "measure_version", 1),
        sentences=getattr(module, "sentences", {}).get(space.scale),
    )
    _check_rows(table)
    return table


def _with_corpus(name: str, module: ModuleType, scale: str | None, corpus: str) -> str:
    """Return the name of the scale with this corpus."""
    scale = scale or next(iter(module.scales))
    corpora = [other.partition("/")[2] for other in module.scales if other.startswith(f"{scale}/")]
    if not corpora:
        raise UserError(f"table '{name}' has a single corpus at scale {scale}: leave out --corpus")
    if corpus not in corpora:
        raise unknown(f"corpus of table '{name}' at scale {scale}", corpus, corpora)
    return f"{scale}/{corpus}"


def _printed(module: ModuleType, scale: str) -> PrintedTable:
    published = _at_scale(module.published, scale)
    return published if isinstance(published, PrintedTable) else printed.from_values(published)


def _at_scale(value: Any, scale: str) -> Any:
    return value(scale) if callable(value) else value


def _check_rows(table: Published) -> None:
    """Raise UserError for printed rows that are not run, computed or unavailable, and for
    unknown rows in them."""
    rows = table.space.rows
    known = {*rows, *table.improvements, *table.rescored, *table.assembled, *table.unavailable}
    undefined = [row for row in table.printed.rows if row not in known]
    if undefined:
        raise UserError(
            f"table '{table.name}' has published values for '{undefined[0]}', which is not in "
            "rows: add the row, or "
            "give the reason in 'unavailable'"
        )
    used = {"improvements": [row for pair in table.improvements.values() for row in pair]}
    used["rescored rows"] = [row for row, _ in table.rescored.values()]
    used["assembled rows"] = [row for parts in table.assembled.values() for row in parts.values()]
    for what, names in used.items():
        for row in names:
            if row not in rows:
                raise unknown(f"row in the {what} of table '{table.name}'", row, rows)
