"""Frozen dataclasses that are quick to define.

`dataclasses.dataclass(frozen=True)` compiles six methods of every class, before Python 3.13 each by
itself: 3.4 million instructions for four fields, against 0.9 million here, where only `__init__` is
compiled. That is 4 % of all of `augury config`, which imports 40 such classes. To create an
instance takes nearly twice as long, so what has an instance for each row or token is a named tuple.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform, overload

T = TypeVar("T")


@overload
def frozen(cls: type[T], /) -> type[T]: ...


@overload
def frozen(*, kw_only: bool = ..., eq: bool = ...) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T] | None = None, /, *, kw_only: bool = False, eq: bool = True) -> Any:
    """Make a class without slots a frozen dataclass, as `dataclass(frozen=True)` does."""

    def decorate(cls: type[T]) -> type[T]:
        return _frozen(cls, kw_only, eq)

    return decorate if cls is None else decorate(cls)


def _frozen(cls: type[T], kw_only: bool, eq: bool) -> type[T]:
    own = {name for name, value in vars(cls).items() if value is not None}  # __eq__ unsets __hash__
    # `dataclass` asks for the same of a class and its bases, and compiles two more methods for it.
    derived = any("__dataclass_fields__" in vars(base) for base in cls.__mro__[1:])
    decorated = dataclass(frozen=derived, eq=False, repr=False, kw_only=kw_only)(cls)
    vars(decorated)["__dataclass_params__"].frozen = True
    methods = _repr(cls) | (_eq(cls) if eq else {}) | ({} if derived else _guards(cls))
    for name, method in methods.items():
        if name not in own:
            method.__name__, method.__qualname__ = name, f"{cls.__qualname__}.{name}"
            setattr(cls, name, method)
    return decorated


def _repr(cls: type) -> dict[str, Callable[..., Any]]:
    names = [part.name for part in fields(cls) if part.repr]

    @recursive_repr()
    def represent(self: Any) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({values})"

    return {"__repr__": represent}


def _eq(cls: type) -> dict[str, Callable[..., Any]]:
    parts = fields(cls)
    compared = _values([part.name for part in parts if part.compare])
    hashed = _values(
        [part.name for part in parts if (part.compare if part.hash is None else part.hash)]
    )

    def equals(self: Any, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return compared(self) == compared(other)

    def hash_of(self: Any) -> int:
        return hash(hashed(self))

    return {"__eq__": equals, "__hash__": hash_of}


def _guards(cls: type[Any]) -> dict[str, Callable[..., Any]]:
    """Return methods that let `__init__` set each field once, and nothing be set after it."""
    parts = fields(cls)
    names = {part.name for part in parts}
    initial = {part.name for part in parts if part.init or part.default_factory is not MISSING}

    def set_once(self: Any, name: str, value: object) -> None:
        if name in initial and name not in self.__dict__:
            object.__setattr__(self, name, value)
        elif type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        else:
            super(cls, self).__setattr__(name, value)

    def delete(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": set_once, "__delattr__": delete}


def _values(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that returns the attributes of those names."""
    if len(names) > 1:
        return attrgetter(*names)  # which returns no tuple for a single name
    return lambda item: tuple(getattr(item, name) for name in names)
