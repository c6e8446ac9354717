"""The contract of a search space, and finding one by name or by path.

A search space is a Python module:

- `QUESTION`: what it answers, one line;
- `base`: the experiment, as in an experiment file; `scales`: name -> dotted keys that differ from it, the first being
  the default;
- `space`: dotted key -> list of values (a grid) or a domain of Ray Tune (`tune.loguniform(0.1, 10)`);
- `rows`, instead of `space` or beside it: name -> dotted keys that differ from `base`, each a point with a name of its
  own;
- optional `domains`: dotted key -> domain, instead of `space`'s values where the search draws points;
- `metric`, `mode`: what is compared while training runs, as the history calls it (`valid/bleu`, `max`);
- `seeds`;
- optional: `reference`, the point, or the name of the row, that the others are compared with (default: the first row;
  without rows the plain baseline beside the space, or the first point where `base` says `baseline: false`),
  `scheduler` and `search`, as the flags of `augury sweep`, and `mutations` for population-based training.

`space`, `rows`, `domains` and `mutations` may be functions from the scale's name to such a mapping. Functions that give
domains and mutations are called only where points are drawn and a population is trained: they can import `ray.tune`.

The tables of papers are spaces of rows in `search_spaces.papers`, called `<paper>/<table>` (see `published`).
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
    "decoding": "'augury train --set {key}=...' scores what is trained again, without training",
    "scoring": "'augury train --set {key}=...' scores what is trained again, without training",
    "execution": "it changes no result, and '--set {key}=...' gives it to all trials",
    "tracking": "it changes no result, and '--set {key}=...' gives it to all trials",
}
"""Sections that cannot be swept, and what to do with them instead."""
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
    """Points with names of their own."""
    metric: str
    mode: Mode
    seeds: tuple[int, ...]
    reference: Point | str | None
    """A point or the name of a row; None: the plain baseline beside the space."""
    scheduler: SchedulerName
    search: SearchName
    mutations: Mapping[str, Any]

    @property
    def grid(self) -> dict[str, Sequence[Any]]:
        """The keys with listed values."""
        return {key: values for key, values in self.keys.items() if isinstance(values, Sequence)}

    @property
    def domains(self) -> dict[str, Domain]:
        """The keys with values to be drawn."""
        return {key: values for key, values in self.keys.items() if not isinstance(values, Sequence)}


def find(
    name: str, scale: str | None = None, search: SearchName | None = None, scheduler: SchedulerName | None = None
) -> Space:
    """Return the search space called `name`, a module of `search_spaces` or the path of a file, at a scale.

    `search` and `scheduler` are by default the space's. UserError names the nearest space, what a module lacks, and
    what it gives wrongly.
    """
    return read(load(name), name, scale, search, scheduler)


def read(
    module: ModuleType,
    name: str,
    scale: str | None = None,
    search: SearchName | None = None,
    scheduler: SchedulerName | None = None,
) -> Space:
    """Return the search space that a module defines; errors call it `name`."""
    missing = [name for name in REQUIRED if not hasattr(module, name)]
    if missing:
        raise UserError(f"search space '{name}' lacks {', '.join(missing)}: a space defines {', '.join(REQUIRED)}")
    optional = {attribute: getattr(module, attribute, default) for attribute, default in OPTIONAL.items()}
    scales = dict(optional["scales"])
    if scale is not None and scale not in scales:
        raise unknown(f"scale of search space '{name}'", scale, scales)
    chosen = scale or next(iter(scales))
    search, scheduler = search or optional["search"], scheduler or optional["scheduler"]

    def at_scale(part: str) -> Any:
        return optional[part](chosen) if callable(optional[part]) else optional[part]

    keys = _keys(name, at_scale("space") | (at_scale("domains") if search in ("random", "optuna") else {}))
    rows = _rows(name, at_scale("rows"))
    if not keys and not rows:
        raise UserError(f"space '{name}' sweeps nothing: give 'space' at least one dotted key, or 'rows' one row")
    if not keys and search in ("random", "optuna"):
        raise UserError(f"search {search} draws values, and space '{name}' has rows alone: leave it out")
    reference = optional["reference"] if optional["reference"] is not None else next(iter(rows), None)
    if isinstance(reference, str) and reference not in rows:
        raise unknown(f"reference of space '{name}'", reference, rows)
    domains = [key for key, values in keys.items() if not isinstance(values, Sequence)]
    return Space(
        name=_short(module),
        question=_line(name, module.QUESTION),
        base=config.merge(module.base, scales[chosen]),
        scale=chosen,
        keys=keys,
        rows=rows,
        metric=module.metric,
        mode=_one_of(name, "mode", module.mode, get_args(Mode)),
        seeds=tuple(module.seeds),
        reference=reference,
        scheduler=_one_of(name, "scheduler", scheduler, get_args(SchedulerName)),
        search=_one_of(name, "search", search or ("random" if domains else "grid"), get_args(SearchName)),
        mutations=_keys(name, {} if callable(optional["mutations"]) and scheduler != "pbt" else at_scale("mutations")),
    )


def known() -> list[str]:
    """Return the names of the spaces there are, without the tables of papers."""
    return SPACES.names()


def tables() -> list[str]:
    """Return the names of the papers' tables: `<paper>/<table>`."""
    return TABLES.names()


def load(name: str) -> ModuleType:
    """Return the module of a space or table by its name, or of a file by its path; UserError names the nearest."""
    kind = TABLES if name in tables() else SPACES
    module: ModuleType = kind.find(name)
    return module


def _short(module: ModuleType) -> str:
    """Return the name of a space in names of files: its module, for a paper's table with the paper in front."""
    name = plugins.short_name(module)
    return name.removeprefix(f"{PACKAGE}.").removeprefix(f"{PAPERS}.").replace(".", "-")


def _keys(name: str, keys: Mapping[str, Any]) -> dict[str, Any]:
    for key, values in keys.items():
        if isinstance(values, str) or not (isinstance(values, Sequence) or hasattr(values, "sample")):
            raise UserError(f"space '{name}', key {key}: give a list of values or a domain of ray.tune, not {values!r}")
        if isinstance(values, Sequence) and not values:
            raise UserError(f"space '{name}', key {key} lists no value")
        if remedy := UNTRAINED.get(key.partition(".")[0]):
            raise UserError(f"space '{name}', key {key} trains no other model: leave it out; {remedy.format(key=key)}")
    return dict(keys)


def _rows(name: str, rows: Any) -> dict[str, Point]:
    if not isinstance(rows, Mapping) or not all(isinstance(row, Mapping) for row in rows.values()):
        raise UserError(f"space '{name}': rows must map names to dotted keys that differ from base, not {rows!r}")
    return dict(rows)


def _line(name: str, question: Any) -> str:
    if not isinstance(question, str) or not question.strip():
        raise UserError(f"search space '{name}': QUESTION must be one line of text")
    return " ".join(question.split())


def _one_of(name: str, what: str, value: Any, allowed: Sequence[str]) -> Any:
    if value not in allowed:
        raise UserError(f"search space '{name}': {what} is {value!r}; allowed: {', '.join(allowed)}")
    return value
