"""The interface of a search space module, and loading one by name or path.

A search space is a Python module that defines:

- `QUESTION`: the question it answers, one line;
- `base`: the experiment, as in an experiment file;
- optional `scales`: name -> dotted keys that override `base`; the first scale is the default;
- `space`: dotted key -> list of values (a grid) or domain of Ray Tune (`tune.loguniform(0.1, 10)`);
- `rows`, instead of or in addition to `space`: name -> dotted keys that override `base`, a named
  point;
- optional `domains`: dotted key -> domain that replaces the values of `space` if the search draws
  points;
- `metric`, `mode`: the metric to compare during training, by its name in the history (`valid/bleu`,
  `max`);
- `seeds`;
- optional `reference`: the point, or the name of the row, that the others are compared with
  (default: the first row;
  without rows the plain baseline, or the first point if `base` sets `baseline: false`);
- optional `scheduler` and `search`: defaults of the flags of `augury sweep`;
- optional `mutations`: dotted key -> list or domain, for population-based training.

`space`, `rows`, `domains` and `mutations` may be functions of the scale's name. Those of `domains`
and `mutations` are only called when points are drawn or a population is trained, so they can import
`ray.tune`.

Tables of papers are spaces of rows in `search_spaces.papers`, named `<paper>/<table>` (see
`published`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, Protocol, get_args

from augury.core import config, plugins
from augury.core.errors import UserError, unknown
from augury.core.plugins import Registry

PACKAGE, PAPERS = "search_spaces", "papers"
Mode = Literal["max", "min"]
SchedulerName = Literal["all", "halving", "pbt"]
SearchName = Literal["grid", "random", "optuna"]
OPTIONAL: dict[str, Any] = {
    "space": {},
    "rows": {},
    "domains": {},
    "reference": None,
    "scheduler": "all",
    "search": None,
    "mutations": {},
    "scales": {"default": {}},
}
UNTRAINED = {
    "decoding": "'augury train --set {key}=...' scores trained models again",
    "scoring": "'augury train --set {key}=...' scores trained models again",
    "execution": "it does not change results; '--set {key}=...' applies it to all trials",
    "tracking": "it does not change results; '--set {key}=...' applies it to all trials",
}
"""Sections that cannot be swept, and the alternative to suggest."""
REQUIRED = ("QUESTION", "base", "metric", "mode", "seeds")
SPACES = Registry(
    "search space",
    package=PACKAGE,
    attribute="QUESTION",
    contract=f"define {', '.join(REQUIRED)}, and what is swept in space or rows",
    is_module=True,
)
TABLES = Registry(
    "table",
    package=f"{PACKAGE}.{PAPERS}",
    attribute="QUESTION",
    contract="be a search space that also defines the printed table (augury.sweeping.published)",
    is_module=True,
    depth=1,
)

Point = Mapping[str, Any]
"""Dotted keys with their values."""


class Domain(Protocol):
    """A domain of Ray Tune: values to draw from."""

    def sample(self, config: Any = None, size: int = 1, random_state: Any = None) -> Any: ...


@dataclass(frozen=True)
class Space:
    """A question, an experiment and the keys that are swept."""

    name: str
    question: str
    base: Mapping[str, Any]
    """The experiment at the chosen scale."""
    scale: str
    keys: Mapping[str, Sequence[Any] | Domain]
    rows: Mapping[str, Point]
    """Named points."""
    metric: str
    mode: Mode
    seeds: tuple[int, ...]
    reference: Point | str | None
    """A point or the name of a row; None: the plain baseline."""
    scheduler: SchedulerName
    search: SearchName
    mutations: Mapping[str, Any]

    @property
    def grid(self) -> dict[str, Sequence[Any]]:
        """The keys with listed values."""
        return {key: values for key, values in self.keys.items() if isinstance(values, Sequence)}

    @property
    def domains(self) -> dict[str, Domain]:
        """The keys with domains to draw from."""
        return {
            key: values for key, values in self.keys.items() if not isinstance(values, Sequence)
        }


def find(
    name: str,
    scale: str | None = None,
    search: SearchName | None = None,
    scheduler: SchedulerName | None = None,
) -> Space:
    """Return a search space at a scale; `name` is a module of `search_spaces` or the path of a
    file.

    `scale`, `search` and `scheduler` default to the space's. Raises UserError for an unknown name
    and for missing or invalid definitions.
    """
    return read(load(name), name, scale, search, scheduler)


def read(
    module: ModuleType,
    name: str,
    scale: str | None = None,
    search: SearchName | None = None,
    scheduler: SchedulerName | None = None,
) -> Space:
    """Return the search space that a module defines; error messages call it `name`."""
    missing = [attribute for attribute in REQUIRED if not hasattr(module, attribute)]
    if missing:
        raise UserError(
            f"search space '{name}' lacks {', '.join(missing)}: a space defines "
            f"{', '.join(REQUIRED)}"
        )
    optional = {
        attribute: getattr(module, attribute, default) for attribute, default in OPTIONAL.items()
    }
    scales = dict(optional["scales"])
    if scale is not None and scale not in scales:
        raise unknown(f"scale of search space '{name}'", scale, scales)
    scale = scale or next(iter(scales))
    search, scheduler = search or optional["search"], scheduler or optional["scheduler"]

    def at_scale(attribute: str) -> Any:
        return optional[attribute](scale) if callable(optional[attribute]) else optional[attribute]

    keys = _keys(
        name, at_scale("space") | (at_scale("domains") if search in ("random", "optuna") else {})
    )
    rows = _rows(name, at_scale("rows"))
    if not keys and not rows:
        raise UserError(
            f"space '{name}' sweeps nothing: give 'space' at least one dotted key, or 'rows' one "
            "row"
        )
    if not keys and search in ("random", "optuna"):
        raise UserError(
            f"search {search} draws values, but space '{name}' has only rows: leave out --search "
            f"{search}"
        )
    reference = (
        optional["reference"] if optional["reference"] is not None else next(iter(rows), None)
    )
    if isinstance(reference, str) and reference not in rows:
        raise unknown(f"reference of space '{name}'", reference, rows)
    domains = [key for key, values in keys.items() if not isinstance(values, Sequence)]
    return Space(
        name=_short(module),
        question=_line(name, module.QUESTION),
        base=config.merge(module.base, scales[scale]),
        scale=scale,
        keys=keys,
        rows=rows,
        metric=module.metric,
        mode=_choice(name, "mode", module.mode, get_args(Mode)),
        seeds=tuple(module.seeds),
        reference=reference,
        scheduler=_choice(name, "scheduler", scheduler, get_args(SchedulerName)),
        search=_choice(
            name, "search", search or ("random" if domains else "grid"), get_args(SearchName)
        ),
        mutations=_keys(
            name,
            {} if callable(optional["mutations"]) and scheduler != "pbt" else at_scale("mutations"),
        ),
    )


def known() -> list[str]:
    """Return the names of all search spaces, without the tables of papers."""
    return SPACES.names()


def tables() -> list[str]:
    """Return the names of all tables of papers, `<paper>/<table>`."""
    return TABLES.names()


def load(name: str) -> ModuleType:
    """Return the module of a space or table, given by name or path; UserError if there is none."""
    kind = TABLES if name in tables() else SPACES
    module: ModuleType = kind.find(name)
    return module


def _short(module: ModuleType) -> str:
    """Return the name of a space for use in file names: its module's, with the paper as prefix
    for a table."""
    name = plugins.short_name(module)
    return name.removeprefix(f"{PACKAGE}.").removeprefix(f"{PAPERS}.").replace(".", "-")


def _keys(name: str, keys: Mapping[str, Any]) -> dict[str, Any]:
    for key, values in keys.items():
        if isinstance(values, str) or not (
            isinstance(values, Sequence) or hasattr(values, "sample")
        ):
            raise UserError(
                f"space '{name}', key {key}: give a list of values or a domain of ray.tune, not "
                f"{values!r}"
            )
        if isinstance(values, Sequence) and not values:
            raise UserError(
                f"space '{name}', key {key} has no values: list at least one, or leave the key out"
            )
        if remedy := UNTRAINED.get(key.partition(".")[0]):
            raise UserError(
                f"space '{name}', key {key} does not affect training: leave it out; "
                f"{remedy.format(key=key)}"
            )
    return dict(keys)


def _rows(name: str, rows: Any) -> dict[str, Point]:
    if not isinstance(rows, Mapping) or not all(isinstance(row, Mapping) for row in rows.values()):
        raise UserError(
            f"space '{name}': rows must map names to dotted keys that override base, not be "
            f"{rows!r}"
        )
    return dict(rows)


def _line(name: str, question: Any) -> str:
    if not isinstance(question, str) or not question.strip():
        raise UserError(f"search space '{name}': QUESTION must be one line of text")
    return " ".join(question.split())


def _choice(name: str, attribute: str, value: Any, allowed: Sequence[str]) -> Any:
    if value not in allowed:
        raise UserError(
            f"search space '{name}': {attribute} is {value!r}; allowed: {', '.join(allowed)}"
        )
    return value
