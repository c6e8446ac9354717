"""Annotations of settings that may or may not change during training, for population-based
training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel


@dataclass(frozen=True)
class Mutability:
    """An annotation of a field: `beta: Annotated[float, MUTABLE] = 5.0`."""

    reason: str | None = None
    """Why the setting must not change; None if it may."""


MUTABLE: Final = Mutability()
"""The setting may change at any time and takes effect with the next update."""


def mutable_keys(settings: BaseModel, prefix: str = "") -> Iterator[str]:
    """Yield the dotted keys of all mutable settings."""
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            yield from mutable_keys(value, f"{prefix}{name}.")
        elif _mutability(settings, name) == MUTABLE:
            yield f"{prefix}{name}"


def fixed_reason(settings: BaseModel, key: str) -> str | None:
    """Return why the setting with a dotted key must not change; None if its annotation gives no
    reason."""
    name, _, rest = key.partition(".")
    value = getattr(settings, name, None)
    if rest:
        return fixed_reason(value, rest) if isinstance(value, BaseModel) else None
    mutability = _mutability(settings, name)
    return mutability.reason if mutability else None


def _mutability(settings: BaseModel, name: str) -> Mutability | None:
    """Return the annotation of a field, or of the base-class field that it overrides."""
    fields = [
        base.model_fields.get(name)
        for base in type(settings).__mro__
        if issubclass(base, BaseModel)
    ]
    annotations = (item for field in fields if field for item in field.metadata)
    return next((item for item in annotations if isinstance(item, Mutability)), None)
