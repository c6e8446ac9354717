"""Marks of settings that may, or may not, change while a model trains; population-based training reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel


@dataclass(frozen=True)
class Mutability:
    """A mark in a field's annotation: `beta: Annotated[float, MUTABLE] = 5.0`."""

    reason: str | None = None
    """Why the setting may not change; None where it may."""


MUTABLE: Final = Mutability()
"""The setting acts from the next update on, wherever a training is."""


def mutable_keys(settings: BaseModel, prefix: str = "") -> Iterator[str]:
    """Yield the dotted keys of all settings that may change."""
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            yield from mutable_keys(value, f"{prefix}{name}.")
        elif _mark(settings, name) == MUTABLE:
            yield f"{prefix}{name}"


def fixed_because(settings: BaseModel, key: str) -> str | None:
    """Return why the setting with a dotted key may not change, as far as its mark says; None without such a mark."""
    name, _, rest = key.partition(".")
    value = getattr(settings, name, None)
    if rest:
        return fixed_because(value, rest) if isinstance(value, BaseModel) else None
    mark = _mark(settings, name)
    return mark.reason if mark else None


def _mark(settings: BaseModel, name: str) -> Mutability | None:
    """Return the mark of a field, or that of the field which it takes the place of in a base class."""
    fields = [base.model_fields.get(name) for base in type(settings).__mro__ if issubclass(base, BaseModel)]
    marks = [mark for field in fields if field for mark in field.metadata if isinstance(mark, Mutability)]
    return next(iter(marks), None)
