"""Settings that may or may not change during training, for population-based training.

A section says it in one of two class attributes: `FIXED`, its settings that must not change, with
the reason, where all others may change at any time and take effect with the next update; or
`MUTABLE`, the only ones that may.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from pydantic import BaseModel


def mutable_keys(settings: BaseModel, prefix: str = "") -> Iterator[str]:
    """Yield the dotted keys of all mutable settings."""
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            yield from mutable_keys(value, f"{prefix}{name}.")
        elif _is_mutable(type(settings), name):
            yield f"{prefix}{name}"


def fixed_reason(settings: BaseModel, key: str) -> str | None:
    """Return why the setting with a dotted key must not change; None if its section gives no
    reason."""
    name, _, rest = key.partition(".")
    if not rest:
        return _reason(type(settings), name)
    value = getattr(settings, name, None)
    return fixed_reason(value, rest) if isinstance(value, BaseModel) else None


def _reason(section: type[BaseModel], name: str) -> str | None:
    reasons = (vars(base).get("FIXED", {}).get(name) for base in section.__mro__)
    return next((reason for reason in reasons if reason), None)


def _is_mutable(section: type[BaseModel], name: str) -> bool:
    """Return whether a class that declares a setting, or overrides it, lets it change.

    A subclass that says nothing of its own settings lets none of them change.
    """
    if _reason(section, name) is not None:
        return False
    for base in section.__mro__:
        own = vars(base)
        is_free = "FIXED" in own and name in inspect.get_annotations(base)
        if is_free or name in own.get("MUTABLE", ()):
            return True
    return False
