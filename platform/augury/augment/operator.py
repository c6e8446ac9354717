"""The contract of an operator: typed parameters, what it learns from the training split, a pure function of a block."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import pyarrow as pa

import augury.augment
from augury.config import Section, validate
from augury.errors import UserError, unknown

Apply = Callable[[pa.Table], pa.Array]


class Operator(Section):
    """Parameters of an operator, which are also its flags on the command line.

    An operator is fitted on the training split, block by block, and then maps a block of records to one text per
    record: a view, which keeps the record's id. A block has the columns `id`, `source` and `target`; nothing may depend
    on its size or on other blocks.
    """

    operator: str
    """The module of `augury.augment` that holds the operator."""

    VERSION: ClassVar[int] = 1
    """Raised when the same parameters come to give another text: part of every address."""
    PER_SECOND: ClassVar[float] = 500_000
    """Records that one core makes in a second, for the choice of the executor."""

    def parts(self) -> Sequence[Operator]:
        """The operators, one view each, that this one consists of; each part has its own address."""
        raise NotImplementedError

    def view(self) -> str:
        """The name of the view that a part makes."""
        raise NotImplementedError

    def fit_parameters(self) -> dict[str, Any]:
        """The parameters that decide what is learned; parts that agree in them share one fit."""
        raise NotImplementedError

    def fit_block(self, block: pa.Table) -> Any:
        """What one block of the training split tells."""
        raise NotImplementedError

    def fit(self, told: Sequence[Any]) -> dict[str, Any]:
        """Side data (JSON) from what all blocks told, in order."""
        raise NotImplementedError

    def bind(self, fitted: Mapping[str, Any]) -> Apply:
        """The function from a block to the view's texts."""
        raise NotImplementedError

    def canonical(self, fitted: Mapping[str, Any]) -> Operator:
        """The same operator, parameters that make equal text written in one way."""
        return self


def parse(value: Any) -> Operator:
    """The operator that `{operator: ..., parameters}` describes; UserError names the nearest known one."""
    if isinstance(value, Operator):
        return value
    if not isinstance(value, Mapping) or not isinstance(value.get("operator"), str):
        raise UserError(f"an item of augment is 'operator: ...' and its parameters; allowed: {', '.join(names())}")
    return validate(schema(value["operator"]), value, f"operator {value['operator']}")


def schema(name: str) -> type[Operator]:
    """The class of the operator called `name`."""
    if name not in names():
        raise unknown("operator", name, names())
    found: type[Operator] = importlib.import_module(f"augury.augment.{name}").OPERATOR
    return found


def names() -> list[str]:
    """The operators there are: the modules of this package that define one."""
    modules = [module.name for module in pkgutil.iter_modules(augury.augment.__path__)]
    return [name for name in modules if name not in ("operator", "pipeline")]
