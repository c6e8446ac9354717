"""Typed values of JSON-like content, such as the files of a run."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from augury.core.errors import UserError

T = TypeVar("T")


def typed(kind: type[T], content: Any, where: str) -> T:
    """Return JSON-like content as a value of a dataclass; unknown keys are ignored.

    UserError names the file, `where`, and the entries that are missing or of another type.
    """
    try:
        value: T = _adapter(cast(Hashable, kind)).validate_python(content)
        return value
    except ValidationError as error:
        faults = [
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()[:3]
        ]
        raise UserError(f"{where} is damaged ({'; '.join(faults)})") from error


@lru_cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
