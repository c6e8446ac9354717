"""Errors in settings, with their keys and, for settings read from a file, their lines.

Translates pydantic's validation errors into messages that tell the author of the settings what to
change.
"""

from __future__ import annotations

import datetime
import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from augury.core.errors import UserError, nearest

KeyPath = tuple[str, ...]
"""The keys that lead to a setting, with list indices as numbers."""
KEY = "\0"
SHOWN = 60  # characters of a value in a message
SLIP = 0.8
"""The similarity of an unknown key to a known one, at least, of which it is a slip."""

SHOULD = "Input should be "
"""How pydantic says what a value has to be."""
WORDS = {
    "a valid integer": "a whole number",
    "a valid number": "a number",
    "a valid boolean": "true or false",
    "a valid string": "text",
    "a valid tuple": "a list",
    "a valid list": "a list",
    "a valid dictionary": "keys with values, such as {key: value}",
    "a valid mapping": "keys with values, such as {key: value}",
    "greater than or equal to": "at least",
    "greater than": "more than",
    "less than or equal to": "at most",
    "callable": "a function",
}
"""What we call what pydantic asks for."""


class Fault(NamedTuple):
    """One error in settings."""

    path: KeyPath
    message: str = ""
    """The allowed values, and the remedy; KEY stands for the key, which is said first if it is not
    in it."""

    def text(self) -> str:
        """Return the message with the key."""
        key, message = ".".join(self.path), self.message
        if KEY in message:
            return message.replace(KEY, key, 1)
        return f"{key}: {message}" if key else message


class InvalidSettings(UserError):
    """All errors in the settings of `subject`; `locations` maps key paths to positions in a
    file, such as `line 12`."""

    def __init__(
        self, subject: str, faults: Iterable[Fault], locations: Mapping[KeyPath, str] | None = None
    ):
        self.subject, self.faults, self.locations = subject, tuple(faults), dict(locations or {})
        lines = [f"{subject} is not valid:"]
        for fault in self.faults:
            place = _locate(fault.path, self.locations)
            lines.append(f"{place}: {fault.text()}" if place else fault.text())
        super().__init__("\n  ".join(lines))

    def __reduce__(self) -> tuple[type[InvalidSettings], tuple[Any, ...]]:
        # Ray workers pickle their errors.
        return InvalidSettings, (self.subject, self.faults, self.locations)

    def in_file(self, file: str, locations: Mapping[KeyPath, str]) -> InvalidSettings:
        """Return the same errors for the settings in a file, in the order of its lines."""
        order = {line: number for number, line in enumerate(locations.values())}
        faults = sorted(
            self.faults, key=lambda fault: order.get(_locate(fault.path, locations), -1)
        )
        return InvalidSettings(file, faults, locations)


def faults_of(
    error: ValidationError, content: Mapping[str, Any], schema: type[BaseModel]
) -> list[Fault]:
    """Convert pydantic's errors about `content` as a `schema`."""
    errors = error.errors(include_url=False)
    located = [(*_key_path(each, content), each) for each in errors]
    branches = [path for path, is_branch, _ in located if is_branch]
    checked = {path for path, _, each in located if "error" in each.get("ctx", {})}
    faults: dict[Any, Fault] = {}
    allowed: dict[KeyPath, list[str]] = {}
    for path, is_branch, each in located:
        cause, is_type = each.get("ctx", {}).get("error"), each["msg"].startswith(SHOULD)
        if is_branch and any(other[: len(path)] == path != other for other in branches):
            continue  # validation got further in another branch of the union
        if is_branch and path in checked and is_type:
            continue  # another branch takes the type, and has checked the content
        if isinstance(cause, InvalidSettings):
            moved = [fault._replace(path=(*path, *fault.path)) for fault in cause.faults]
            faults.update(zip(moved, moved, strict=True))
        elif each["type"] == "missing":
            faults[path] = Fault(path, f"'{KEY}' is required")
        elif each["type"] == "extra_forbidden":
            known, elsewhere = _known_keys(schema, path[:-1]), _keys_called(schema, path[-1])
            hint = nearest(path[-1], known)
            # Unless it looks like a slip of a key of its own section.
            if elsewhere and not difflib.get_close_matches(path[-1], known, n=1, cutoff=SLIP):
                hint = f"did you mean {' or '.join(map(repr, elsewhere))}?"
            faults[path] = Fault(path, f"unknown key '{KEY}': {hint}")
        elif each["type"] == "too_short":
            faults[path] = Fault(path, f"{KEY} has too few entries: give at least one")
        elif is_type:
            alternatives = allowed.setdefault(path, [])
            alternatives.append(_allowed(each))
            message = f"{KEY} = {_shown(each['input'])}: must be "
            message += " or ".join(dict.fromkeys(alternatives))
            faults[path] = Fault(path, message + _hint(each["input"], alternatives))
        else:
            message = str(cause) if cause else each["msg"]
            faults[path, message] = Fault(path, message)
    return list(faults.values())


def _key_path(error: Mapping[str, Any], content: Any) -> tuple[KeyPath, bool]:
    """Return the key path of an error, and whether its location has other parts: tags of union
    branches."""
    path: list[str] = []
    parts, is_branch = error["loc"], False
    for number, part in enumerate(parts, start=1):
        children = content if isinstance(content, Mapping) else {}
        children = dict(enumerate(content)) if isinstance(content, list | tuple) else children
        key = next((key for key in children if str(key) == str(part)), None)
        if key is not None:
            path.append(str(key))
            content = children[key]
        elif number == len(parts) and error["type"] == "missing":
            path.append(str(part))
        else:
            is_branch = True
    return tuple(path), is_branch


def _allowed(error: Mapping[str, Any]) -> str:
    """Return what a value has to be."""
    if isinstance(error["input"], BaseModel):  # a section of another class
        return str(error["ctx"]["class_name"])
    text = str(error["msg"]).removeprefix(SHOULD)
    if error["type"] == "literal_error":
        return text
    text = text.partition(", ")[0].partition(" or ")[0] if "valid" in text else text
    for theirs, ours in WORDS.items():
        text = text.replace(theirs, ours)
    return text


def _hint(value: Any, allowed: Sequence[str]) -> str:
    """Return what to write instead, if that is clear."""
    if "text" in allowed and isinstance(value, bool):
        words = "yes, on and true" if value else "no, off and false"
        return f"; YAML takes a bare {words} for {_shown(value)}: put it in quotes"
    if "text" in allowed and isinstance(value, int | float | datetime.date):
        return f": put it in quotes, '{value}'"
    if "a list" in allowed and isinstance(value, int | float | str):
        return f": [{value}]"
    options = re.findall("'([^']*)'", " ".join(allowed))
    close = difflib.get_close_matches(value, options, n=1) if isinstance(value, str) else []
    return f": did you mean '{close[0]}'?" if close else ""


def _shown(value: Any) -> str:
    """Return a value as written in a file, truncated to `SHOWN` characters."""
    if value is None:
        return "nothing"
    if isinstance(value, BaseModel):
        return type(value).__name__
    is_text = isinstance(value, str)
    text = repr(value) if is_text else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _locate(path: KeyPath, locations: Mapping[KeyPath, str]) -> str:
    """Return the location of a setting, or of its nearest ancestor that has one."""
    above = [path[:end] for end in range(len(path), 0, -1)]
    return next((locations[key] for key in above if key in locations), "")


def _known_keys(schema: type[BaseModel], location: Sequence[str]) -> list[str]:
    """Return the keys allowed at `location`, skipping parts that are not fields (list indices,
    mapping keys)."""
    current: type[BaseModel] = schema
    for part in location:
        if part in current.model_fields:
            current = next(iter(_models_in(current.model_fields[part].annotation)), current)
    return list(current.model_fields)


def _keys_called(schema: type[BaseModel], name: str) -> list[str]:
    """Return the dotted keys of the sections of a schema, not of those in lists and mappings, whose
    last part is `name`."""
    keys = []
    for section, field in schema.model_fields.items():
        annotation = field.annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            if name in annotation.model_fields:
                keys.append(f"{section}.{name}")
            keys += [f"{section}.{key}" for key in _keys_called(annotation, name)]
    return keys


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in getattr(annotation, "__args__", ()) for model in _models_in(part)]
