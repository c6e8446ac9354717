"""Errors in settings, with their keys and, for settings read from a file, their lines.

Translates pydantic's validation errors into messages that tell the author of the settings what to
change.
"""

from __future__ import annotations

import datetime
import difflib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel

from augury.core.errors import UserError, nearest

KeyPath = tuple[str, ...]
"""The keys that lead to a setting, with list indices as numbers."""
SHOWN = 60  # characters of a value in a message
SLIP = 0.8
"""The similarity of an unknown key to a known one, at least, of which it is a slip."""

WRONG = "{key} = {value}: {message}"
UNKNOWN = "unknown key '{key}': {message}"
MISSING = "'{key}' is required"
GENERAL = "{key}: {message}"

WHOLE, NUMBER, BOOLEAN, TEXT, LIST = "a whole number", "a number", "true or false", "text", "a list"
MAPPING = "keys with values, such as {{key: value}}"
SECTION = "a section of settings, such as {{key: value}}"
ALLOWED = {
    "int_type": WHOLE,
    "int_parsing": WHOLE,
    "int_parsing_size": WHOLE,
    "int_from_float": WHOLE,
    "float_type": NUMBER,
    "float_parsing": NUMBER,
    "finite_number": NUMBER,
    "bool_type": BOOLEAN,
    "bool_parsing": BOOLEAN,
    "tuple_type": LIST,
    "list_type": LIST,
    "dict_type": MAPPING,
    "mapping_type": MAPPING,
    "model_type": SECTION,
    "model_attributes_type": SECTION,
    "callable_type": "a function",
    "string_type": TEXT,
    "string_pattern_mismatch": "text that matches {pattern}",
    "literal_error": "{expected}",
    "greater_than": "more than {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "less_than": "less than {lt:g}",
    "less_than_equal": "at most {le:g}",
    "too_short": "a list of at least {min_length}",
    "too_long": "a list of at most {max_length}",
}
"""The requirement on a value, by pydantic's error type, formatted with its context."""


class Fault(NamedTuple):
    """One error in settings."""

    path: KeyPath
    message: str = ""
    """The allowed values, and the remedy."""
    value: str = ""
    """The value as written in a file."""
    form: str = GENERAL

    def text(self) -> str:
        """Return the message with key and value."""
        form = self.form if self.path else "{message}"
        return form.format(key=".".join(self.path), value=self.value, message=self.message)


class InvalidSettings(UserError):
    """All errors in the settings of `subject`; `locations` maps key paths to positions in a
    file, such as `line 12`."""

    def __init__(
        self, subject: str, faults: Iterable[Fault], locations: Mapping[KeyPath, str] | None = None
    ):
        self.subject, self.faults, self.locations = subject, tuple(faults), dict(locations or {})
        places = [_locate(fault.path, self.locations) for fault in self.faults]
        lines = [
            f"{place}: {fault.text()}" if place else fault.text()
            for place, fault in zip(places, self.faults, strict=True)
        ]
        super().__init__("\n  ".join([f"{subject} is not valid:", *lines]))

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
    errors: Sequence[Mapping[str, Any]],
    content: Mapping[str, Any],
    keys_at: Callable[[KeyPath], Iterable[str]],
    keys_called: Callable[[str], Sequence[str]],
) -> list[Fault]:
    """Convert pydantic's errors about `content`; `keys_at` returns the known keys of a section,
    `keys_called` the dotted keys whose last part is a name."""
    located = [(*_key_path(error, content), error) for error in errors]
    branches = [path for path, is_branch, _ in located if is_branch]
    checked = {path for path, _, error in located if "error" in error.get("ctx", {})}
    faults: dict[Any, Fault] = {}
    allowed: dict[KeyPath, list[str]] = {}
    for path, is_branch, error in located:
        if is_branch and any(other[: len(path)] == path != other for other in branches):
            continue  # validation got further in another branch of the union
        if is_branch and path in checked and error["type"] in ALLOWED:
            continue  # another branch takes the type, and has checked the content
        cause = error.get("ctx", {}).get("error")
        if isinstance(cause, InvalidSettings):
            moved = [fault._replace(path=(*path, *fault.path)) for fault in cause.faults]
            faults.update(zip(moved, moved, strict=True))
        elif error["type"] == "missing":
            faults[path] = Fault(path, form=MISSING)
        elif error["type"] == "extra_forbidden":
            message = _nearest_key(path[-1], list(keys_at(path[:-1])), keys_called(path[-1]))
            faults[path] = Fault(path, message, form=UNKNOWN)
        elif error["type"] in ALLOWED:
            alternatives = allowed.setdefault(path, [])
            alternatives.append(_allowed(error))
            message = f"must be {' or '.join(dict.fromkeys(alternatives))}"
            message += _hint(error["input"], alternatives)
            faults[path] = Fault(path, message, _shown(error["input"]), WRONG)
        else:
            message = str(cause) if cause else error["msg"]
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


def _nearest_key(name: str, known: Sequence[str], elsewhere: Sequence[str]) -> str:
    """Return a hint with the key of other sections that has the name of an unknown one, unless it
    looks like a slip of one of its own section."""
    if elsewhere and not difflib.get_close_matches(name, known, n=1, cutoff=SLIP):
        quoted = [f"'{key}'" for key in elsewhere]
        return f"did you mean {' or '.join(quoted)}?"
    return nearest(name, known)


def _allowed(error: Mapping[str, Any]) -> str:
    context = error.get("ctx", {})
    if isinstance(error["input"], BaseModel):  # a section of another class
        return str(context["class_name"])
    return ALLOWED[error["type"]].format(**context)


def _hint(value: Any, allowed: Sequence[str]) -> str:
    """Return what to write instead, if that is clear."""
    if TEXT in allowed and isinstance(value, bool):
        words = "yes, on and true" if value else "no, off and false"
        return f"; YAML takes a bare {words} for {_shown(value)}: put it in quotes"
    if TEXT in allowed and isinstance(value, int | float | datetime.date):
        return f": put it in quotes, '{value}'"
    if LIST in allowed and isinstance(value, int | float | str):
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
    text = json.dumps(value, ensure_ascii=False, default=str)
    text = repr(value) if isinstance(value, str) else text
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _locate(path: KeyPath, locations: Mapping[KeyPath, str]) -> str:
    """Return the location of a setting, or of its nearest ancestor that has one."""
    above = [path[:end] for end in range(len(path), 0, -1)]
    return next((locations[key] for key in above if key in locations), "")
