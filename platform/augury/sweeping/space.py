"""The contract of a search space, and finding one by name or by path.

A search space is a Python module:

- `QUESTION`: what it answers, one line;
- `base`: the experiment, as in an experiment file; `scales`: name -> dotted keys that differ from it, the first being
  the default;
- `space`: dotted key -> list of values (a grid) or a domain of Ray Tune (`tune.loguniform(0.1, 10)`);
- optional `domains`: dotted key -> domain, instead of `space`'s values where the search draws points;
- `metric`, `mode`: what is compared while training runs, as the history calls it (`valid/bleu`, `max`);
- `seeds`;
- optional: `reference`, the point that the others are compared with (default: the plain baseline beside the space, or
  the first point where `base` says `baseline: false`), `scheduler` and `search`, as the flags of `augury sweep`, and
  `mutations` for population-based training.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, Protocol, get_args

from augury import config
from augury.errors import UserError, unknown

PACKAGE = "search_spaces"
Mode = Literal["max", "min"]
Scheduler = Literal["all", "halving", "pbt"]
Search = Literal["grid", "random", "optuna"]
OPTIONAL: dict[str, Any] = {
    "domains": {}, "reference": None, "scheduler": "all", "search": None, "mutations": {}, "scales": {"default": {}},
}  # fmt: skip
REQUIRED = ("QUESTION", "base", "space", "metric", "mode", "seeds")


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
    metric: str
    mode: Mode
    seeds: tuple[int, ...]
    reference: Mapping[str, Any] | None
    scheduler: Scheduler
    search: Search
    mutations: Mapping[str, Any]

    @property
    def grid(self) -> dict[str, Sequence[Any]]:
        """The keys with listed values."""
        return {key: values for key, values in self.keys.items() if isinstance(values, Sequence)}

    @property
    def domains(self) -> dict[str, Domain]:
        """The keys with values to be drawn."""
        return {key: values for key, values in self.keys.items() if not isinstance(values, Sequence)}


def find(name: str, scale: str | None = None, search: Search | None = None) -> Space:
    """The search space called `name`, a module of `search_spaces` or the path of a file, at a scale.

    UserError names the nearest space, what a module lacks, and what it gives wrongly.
    """
    module = _import(name)
    missing = [each for each in REQUIRED if not hasattr(module, each)]
    if missing:
        raise UserError(f"search space '{name}' lacks {', '.join(missing)}: a space defines {', '.join(REQUIRED)}")
    given = {each: getattr(module, each, default) for each, default in OPTIONAL.items()}
    keys, scales = dict(module.space), dict(given["scales"])
    search = search or given["search"]
    if search in ("random", "optuna"):
        keys |= given["domains"]
    if scale is not None and scale not in scales:
        raise unknown(f"scale of search space '{name}'", scale, scales)
    for key, values in keys.items():
        if isinstance(values, str) or not (isinstance(values, Sequence) or hasattr(values, "sample")):
            raise UserError(f"space '{name}', key {key}: give a list of values or a domain of ray.tune, not {values!r}")
        if isinstance(values, Sequence) and not values:
            raise UserError(f"space '{name}', key {key} lists no value")
    if not keys:
        raise UserError(f"space '{name}' sweeps nothing: give 'space' at least one dotted key")
    chosen = scale or next(iter(scales))
    domains = [key for key, values in keys.items() if not isinstance(values, Sequence)]
    return Space(
        name=module.__name__.rpartition(".")[2], question=_line(name, module.QUESTION),
        base=config.merge(module.base, scales[chosen]), scale=chosen, keys=keys, metric=module.metric,
        mode=_one_of(name, "mode", module.mode, get_args(Mode)), seeds=tuple(module.seeds),
        reference=given["reference"],
        scheduler=_one_of(name, "scheduler", given["scheduler"], get_args(Scheduler)),
        search=_one_of(name, "search", search or ("random" if domains else "grid"), get_args(Search)),
        mutations=given["mutations"],
    )  # fmt: skip


def known() -> list[str]:
    """The names of the spaces that are shipped."""
    package = importlib.import_module(PACKAGE)
    found = [module.name for module in pkgutil.iter_modules(package.__path__) if not module.ispkg]
    return [name for name in found if name != "scales"]


def _import(name: str) -> ModuleType:
    if name.endswith(".py") or "/" in name:
        path = Path(name)
        if not path.is_file():
            raise UserError(f"no search space '{name}': give the path of a Python file or one of {', '.join(known())}")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            raise UserError(f"search space '{name}' cannot be read: {type(error).__name__}: {error}") from error
        return module
    if name not in known():
        raise unknown("search space", name, known())
    return importlib.import_module(f"{PACKAGE}.{name}")


def _line(name: str, question: Any) -> str:
    if not isinstance(question, str) or not question.strip():
        raise UserError(f"search space '{name}': QUESTION must be one line of text")
    return " ".join(question.split())


def _one_of(name: str, what: str, value: Any, allowed: Sequence[str]) -> Any:
    if value not in allowed:
        raise UserError(f"search space '{name}': {what} is {value!r}; allowed: {', '.join(allowed)}")
    return value
