"""What the file of a search space or of a paper's table declares, and finding it by name or path.

Tables of papers are spaces of rows. A module of `search_spaces.papers` has those of a paper, named
`<paper>/<table>`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from pydantic import Field, ValidationError

from augury.core import config
from augury.core.errors import UserError
from augury.core.faults import InvalidSettings, faults_of
from augury.core.plugins import Registry
from augury.experiments.spec import Direction

T = TypeVar("T")
AtScale: TypeAlias = T | Callable[[str], T]
"""A value, or a function from the name of a scale to it."""
Point = Mapping[str, Any]
"""Dotted keys with their values."""
Rows = dict[str, dict[str, Any]]
"""Points by name, as the functions of `rows` make them."""
SchedulerName = Literal["all", "race"]
PrintedValues = Mapping[str, Mapping[str, int | float | None]]
"""Row -> test set, or `mean` for the mean over all test sets -> value; None: not printed."""
Measure = Callable[..., Mapping[str, float]]
"""Printed column -> value, given a finished run (`augury.analysis.system.System`)."""


class SearchSpace(config.Section):
    """A search space: `SPACE = SearchSpace(question=..., ...)` in a file.

    What may depend on the scale may be a function of its name. Raises UserError, which lists all
    errors, for fields that are not valid.
    """

    question: str = Field(pattern=r"\S")
    """The question that it answers, one line."""
    base: Mapping[str, Any]
    """The experiment, as in an experiment file."""
    scales: Mapping[str, Point] = Field({"default": {}}, min_length=1)
    """Name -> dotted keys that override `base`; the first scale is the default."""
    keys: AtScale[Mapping[str, Any]] = {}
    """Dotted key -> list of values: all their combinations are trained."""
    rows: AtScale[Mapping[str, Point]] = {}
    """Instead of or in addition to `keys`, points with a name: name -> dotted keys that override
    `base`."""
    families: Callable[[], Mapping[str, str]] | None = None
    """Row -> the family of methods that it belongs to. A race combines the best row with the best
    of other families, in a second round."""
    joins: bool = False
    """Whether the systems of an experiment that the space is applied to are rows too."""
    metric: str
    """The metric to compare during training, by its name in the history (`valid/bleu`)."""
    mode: Direction | None = None
    """Whether the largest or the smallest value of the metric is the best; None: the smallest of
    metrics such as loss, the largest of others."""
    seeds: tuple[int, ...] = Field(min_length=1)
    """The seeds that configurations are trained with."""
    reference: str | Point | None = None
    """The row, or the point, that the others are compared with; None: the first row, without rows
    the plain baseline, or the first point if `base` sets `baseline: false`."""
    scheduler: SchedulerName = "all"
    """The default of `augury sweep --scheduler`."""

    if not TYPE_CHECKING:  # type checkers know the fields

        def __init__(self, **fields: Any) -> None:
            try:
                super().__init__(**fields)
            except ValidationError as error:
                faults = faults_of(error, fields, type(self))
                raise InvalidSettings(type(self).__name__, faults) from error


class PaperTable(SearchSpace):
    """A paper's table, a search space of rows with the printed values: `TABLES = {"table1":
    PaperTable(...)}`.

    Values only compare at the scales `paper` and `released_code`, which has the paper's corpora
    with the settings of its code. A scale with several corpora is several scales: `paper` has the
    first corpus, `paper/iwslt17-fr-en` another. The `deviations` of `paper` apply to them as well.
    """

    paper: str
    """The citation, one line."""
    where: str
    """The location of the values in the paper (`Table 2`)."""
    published: AtScale[PrintedValues] | Path
    """The printed values, or the TSV file of all that the paper prints (see
    `augury.reporting.papers.table`)."""
    columns: AtScale[Mapping[str, str]] = {}
    """Of a file: printed column -> the test set whose score, or the quantity, that it has, or
    `mean` for the mean over test sets."""
    reference: str | None = None
    """The row that the others are compared with; None: the first one."""
    tolerance: float
    """The accepted difference between measured and published values, in points."""
    deviations: Mapping[str, tuple[str, ...]] = {}
    """Scale -> the deviations from the paper, besides those of the file."""
    improvements: Mapping[str, tuple[str, str]] = {}
    """Printed row -> the pair of rows whose relative improvement in per cent it prints, the better
    one first; it is computed, not run."""
    rescored: AtScale[Mapping[str, tuple[str, str]]] = {}
    """Printed row -> the row whose outputs it scores, and the metric, which is another of this row,
    such as one with a step before it."""
    assembled: AtScale[Mapping[str, Mapping[str, str]]] = {}
    """Printed row -> column -> the row that is run for this column, for the values of several
    systems, such as a model for each language."""
    unavailable: AtScale[Mapping[str, str]] | str = {}
    """Printed row that is none of these -> why it is not run; or why none of them is."""
    measure: Measure | None = None
    """For other quantities than scores: a function of a finished run; the quantity `TABLE | LINE |
    COLUMN` is shown there in a table of its own."""
    measure_with_reference: bool = False
    """Whether `measure` takes, for rows other than the reference, the reference's run of the same
    seed before the row's."""
    sentences: Mapping[str, int] = {}
    """Scale -> the maximum number of test sentences that `measure` reads."""
    text: Mapping[str, tuple[int, float]] = {}
    """Scale -> about how many rows the plain training text has, and subwords the longer side of
    one, for what `augury reproduce --resolved` says without the text."""


D = TypeVar("D", bound=SearchSpace)


SPACES = Registry(
    "search space",
    package="search_spaces",
    attribute="SPACE",
    contract=f"define SPACE = SearchSpace(...) of {__name__}",
)
TABLES = Registry(
    "table",
    package="search_spaces.papers",
    attribute="TABLES",
    contract=f'define TABLES = {{"table1": PaperTable(...)}} of {__name__}',
    is_mapping=True,
)


def load_space(name: str) -> SearchSpace:
    """Return what the file of a space or table declares, by name or path; UserError if there is
    none."""
    is_table = name not in SPACES and name in TABLES
    return _load(TABLES if is_table else SPACES, name, SearchSpace)


def load_table(name: str) -> PaperTable:
    """Return what the file of a table declares, by name or path; UserError if there is none."""
    return _load(TABLES, name, PaperTable)


def _load(registry: Registry, name: str, kind: type[D]) -> D:
    try:
        declared = registry.find(name)
    except InvalidSettings as error:
        raise error.in_file(f"'{name}'", {}) from error
    if not isinstance(declared, kind):
        raise UserError(
            f"{registry.attribute} of '{name}' is a {type(declared).__name__}: the file must "
            f"{registry.contract}"
        )
    return declared


def at_scale(value: AtScale[T], scale: str) -> T:
    """Return a value, or what a function makes of the name of the scale."""
    return value(scale) if callable(value) else value
