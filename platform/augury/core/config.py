"""Typed configuration: sections, overrides by dotted keys, and content addresses."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Annotated, Any, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    TypeAdapter,
    ValidationError,
)

from augury.core import yaml_file
from augury.core.errors import UserError, unknown
from augury.core.faults import InvalidSettings, faults_of
from augury.core.naming import counted, file_name, is_whole
from augury.core.paths import PATHS, FileText, absolute
from augury.core.rng import digest


class Section(BaseModel):
    """A frozen group of typed settings; unknown keys are errors."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        defer_build=True,
        use_attribute_docstrings=True,
    )

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with other settings, whose cached properties follow them."""
        copied = super().model_copy(update=update, deep=deep)
        for name in vars(copied).keys() - type(self).model_fields.keys():
            del vars(copied)[name]
        return copied

    def to_dict(self) -> dict[str, Any]:
        """Return the settings, defaults included, as JSON-like values."""
        return self.model_dump(mode="json")

    def inactive(self) -> dict[str, str]:
        """Return the settings without effect and why; experiments that differ only in them are the
        same."""
        return {}


def _path(value: Any) -> Any:
    return absolute(value) if isinstance(value, str) else value


def _directory_or_name(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    path = absolute(value)
    return path if value.startswith(PATHS) or os.path.isdir(path) else value


def _absolute_if_it_exists(text: str) -> str:
    if not isinstance(text, FileText):
        return text
    path = absolute(text)
    is_path = os.path.isfile(path) or os.path.isfile(os.path.join(path, "config.json"))
    return path if is_path or text.startswith(PATHS) else str(text)


FileName = Annotated[str, AfterValidator(file_name)]
"""What names the files and folders of a storage."""
FilePath = Annotated[str, BeforeValidator(_path)]
"""The path of a file or folder; a relative one begins at the folder of the file of settings."""
ModelName = Annotated[str, BeforeValidator(_directory_or_name)]
"""The directory of a model or a run, as a path, or its name elsewhere."""
Overrides = Annotated[
    dict[str, Any], BeforeValidator(partial(yaml_file.with_texts, change=_absolute_if_it_exists))
]
"""Settings of an experiment that a part of another one trains; they have no types yet."""

S = TypeVar("S", bound=Section)
T = TypeVar("T")
_DIRECTORY = re.compile(r"^/(?:.*/)?(?=[^/]+@[0-9a-f]{16}(?:[:-]|$))")


def address(value: Any) -> str:
    """Return the content address of a JSON-like value, 16 hexadecimal digits.

    References to files with their hash (`/home/me/mine.py@1a2b...`) enter without their directory.
    """

    def without_directory(text: str) -> str:
        return _DIRECTORY.sub("", text) if "@" in text else text

    return digest(yaml_file.with_texts(value, without_directory), size=8).hex()


def parse_assignments(assignments: Sequence[str], example: str = "regime.beta=5") -> dict[str, Any]:
    """Return the values of assignments `dotted.key=value`, parsed as YAML, by dotted key."""
    values = {}
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals or not key:
            raise UserError(
                f"--set takes dotted.key=value, not '{assignment}'; for example --set {example}"
            )
        values[key] = yaml_file.value(text, f"--set {key}")
    return values


def merge(content: Mapping[str, Any], dotted: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of `content` with the values of dotted keys set.

    List items are addressed by index.

    A section given as a bare name (`regime: plain`) keeps the name. Systems and stages are
    themselves mappings of dotted keys, so that whatever follows their name is one key.
    """
    if not isinstance(dotted, Mapping):  # as from Python
        raise UserError(f"settings are {dotted!r}: give a mapping of dotted keys")
    copied = partial(yaml_file.with_texts, change=lambda text: text)
    result: Any = copied(content)
    for key, value in copied(dotted).items():
        node, parts = result, key.split(".")
        if parts[0] in yaml_file.VARIANTS:
            parts[2:] = [".".join(parts[2:])] * (len(parts) > 2)
        for depth, part in enumerate(parts):
            last = depth == len(parts) - 1
            if isinstance(node, list):
                index = int(part) if is_whole(part) else len(node)
                if index >= len(node) or not (last or isinstance(node[index], dict | list)):
                    raise UserError(
                        f"'{key}': '{part}' is not the index, from 0, of one of the "
                        f"{counted(len(node), 'section')} of a list"
                    )
                if last:
                    node[index] = value
                node = node[index]
            elif last:
                node[part] = value
            else:
                if not isinstance(node.get(part), dict | list):
                    node[part] = {"name": node[part]} if isinstance(node.get(part), str) else {}
                node = node[part]
    return dict(result)


def flatten(content: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested settings by dotted key, with indices for lists of sections."""
    flat: dict[str, Any] = {}
    for key, value in content.items():
        name = f"{prefix}{key}"
        if isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
            value = {str(index): item for index, item in enumerate(value)}
        if isinstance(value, Mapping) and value:
            flat |= flatten(value, f"{name}.")
        elif value is not None and value != {}:
            flat[name] = value
    return flat


def validate(schema: type[S], content: Mapping[str, Any], where: str) -> S:
    """Return `content` as a `schema`; raise InvalidSettings with all errors if that fails."""
    try:
        return schema.model_validate(dict(content))
    except ValidationError as error:
        raise InvalidSettings(where, faults_of(error, content, schema)) from None


def typed(kind: type[T], content: Any, where: str) -> T:
    """Return JSON-like content as a value of a dataclass; unknown keys are ignored.

    UserError names the file, `where`, and the entries that are missing or of another type.
    """
    try:
        value: T = _adapter(kind).validate_python(content)
        return value
    except ValidationError as error:
        faults = [
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()[:3]
        ]
        raise UserError(f"{where} is damaged ({'; '.join(faults)})") from error


_adapter: Callable[[Any], TypeAdapter[Any]] = lru_cache(TypeAdapter)


def discriminated_union(
    schemas: Mapping[str, type[S]], noun: str, key: str = "name", default: str | None = None
) -> BeforeValidator:
    """Return a validator of sections whose `key` selects a schema; it raises UserError for other
    values."""

    def select(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        name = value.get(key, default)
        if name is None:
            raise UserError(f"the {noun} has no '{key}': give one of {', '.join(schemas)}")
        if not isinstance(name, str) or name not in schemas:
            raise unknown(noun if key == "name" else f"{key} of {noun}", str(name), schemas)
        return validate(schemas[name], value, f"{noun} {name}")

    return BeforeValidator(select)
