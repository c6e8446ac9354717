"""A paper's table at one of its scales: rows as configurations, and the printed values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from augury.core.agreed_code import named_by_user
from augury.core.errors import UserError, unknown
from augury.scoring.registry import title
from augury.sweeping import declarations, printed
from augury.sweeping import space as spaces
from augury.sweeping.declarations import Measure, PaperTable, at_scale
from augury.sweeping.printed import PrintedTable
from augury.sweeping.space import Space
from augury.training.pace import TextSize

FULL_SCALES = ("paper", "released_code")
"""The scales with a paper's corpora, whose values compare with the printed ones."""


@dataclass(frozen=True)
class Published:
    """A paper's table at a scale; fields without a docstring are those of `PaperTable`."""

    name: str
    """`xnli_adversarial/table2`, or the path of a file."""
    space: Space
    paper: str
    where: str
    printed: PrintedTable
    tolerance: float
    deviations: tuple[str, ...]
    improvements: Mapping[str, tuple[str, str]]
    rescored: Mapping[str, tuple[str, str]]
    assembled: Mapping[str, Mapping[str, str]]
    unavailable: Mapping[str, str]
    literature: Mapping[str, Mapping[str, float]]
    measure: Measure | None = None
    measure_with_reference: Measure | None = None
    measure_version: int = 1
    sentences: int | None = None
    text: TextSize | None = None

    @property
    def comparable(self) -> bool:
        """Return whether the scale is that of the paper, or of its released code."""
        return self.space.scale.partition("/")[0] in FULL_SCALES

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
    if not name.endswith(".py") and name not in declarations.tables():
        raise unknown("table", name, declarations.tables())
    with named_by_user(name):
        declared = declarations.load_table(name)
    if corpus is not None:
        scale = _with_corpus(name, declared, scale, corpus)
    space = spaces.resolve(declared, name, scale)
    scale = space.scale
    if not isinstance(space.reference, str):
        raise UserError(
            f"table '{name}': the reference must be one of its rows, {', '.join(space.rows)}"
        )
    values = declared.published
    if callable(values):
        values = values(scale)
    deviations = declared.deviations
    if isinstance(deviations, Path):
        deviations = printed.deviations(deviations, PurePath(name).stem)
    table = Published(
        name=name,
        space=space,
        paper=declared.paper,
        where=declared.where,
        printed=values if isinstance(values, PrintedTable) else printed.from_values(values),
        tolerance=declared.tolerance,
        deviations=deviations.get(scale, deviations.get(scale.partition("/")[0], ())),
        improvements=declared.improvements,
        rescored=at_scale(declared.rescored, scale),
        assembled=at_scale(declared.assembled, scale),
        unavailable=at_scale(declared.unavailable, scale),
        literature=declared.literature,
        measure=declared.measure,
        measure_with_reference=declared.measure_with_reference,
        measure_version=declared.measure_version,
        sentences=declared.sentences.get(scale),
        text=TextSize(*declared.text[scale]) if scale in declared.text else None,
    )
    _check_rows(table)
    return table


def _with_corpus(name: str, table: PaperTable, scale: str | None, corpus: str) -> str:
    """Return the name of the scale with this corpus."""
    scale = scale or next(iter(table.scales))
    corpora = [other.partition("/")[2] for other in table.scales if other.startswith(f"{scale}/")]
    if not corpora:
        raise UserError(f"table '{name}' has a single corpus at scale {scale}: leave out --corpus")
    if corpus not in corpora:
        raise unknown(f"corpus of table '{name}' at scale {scale}", corpus, corpora)
    return f"{scale}/{corpus}"


def _check_rows(table: Published) -> None:
    """Raise UserError for printed rows that are not run, computed or unavailable, and for
    unknown rows in them."""
    rows = table.space.rows
    known = {*rows, *table.improvements, *table.rescored, *table.assembled, *table.unavailable}
    undefined = [row for row in table.printed.rows if row not in known]
    if undefined:
        raise UserError(
            f"table '{table.name}' has published values for '{undefined[0]}', which is not in "
            "rows: add the row, or give the reason in 'unavailable'"
        )
    used: list[tuple[str, Iterable[str]]] = []
    used += [("improvements", pair) for pair in table.improvements.values()]
    used += [("rescored rows", [row]) for row, _ in table.rescored.values()]
    used += [("assembled rows", parts.values()) for parts in table.assembled.values()]
    for what, names in used:
        for row in names:
            if row not in rows:
                raise unknown(f"row in the {what} of table '{table.name}'", row, rows)
