"""Typed values of JSON-like content, such as the files of a run."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import Annotated, Any, TypeVar, cast

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticKnownError

from augury.core.errors import UserError
from augury.core.naming import FILE_NAME, FILE_NAME_LENGTH, FILE_NAME_OF_ANY_LENGTH

T = TypeVar("T")


def _not_too_long(name: str) -> str:
    if len(name) > FILE_NAME_LENGTH:
        raise PydanticKnownError("string_pattern_mismatch", {"pattern": FILE_NAME_OF_ANY_LENGTH})
    return name


FileName = Annotated[
    str,
    Field(pattern=FILE_NAME_OF_ANY_LENGTH, json_schema_extra={"pattern": FILE_NAME}),
    AfterValidator(_not_too_long),
]
"""What names the files and folders of a storage."""


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
