"""What is wrong with given settings, each fault with its key and, where they come from a file, its line.

pydantic says what its validators saw; this says what whoever wrote the settings has to change.
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

Place = tuple[str, ...]
"""The keys that lead to a setting, positions in lists as numbers."""
SHOWN = 60  # characters of a value in an error

WRONG, UNKNOWN, MISSING = "{key} = {value}: {message}", "unknown key '{key}': {message}", "'{key}' is required"
GENERAL = "{key}: {message}"

TEXT, LIST = "text", "a list"
ALLOWED = {
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "int_parsing_size"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing", "finite_number"), "a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    **dict.fromkeys(("tuple_type", "list_type"), LIST),
    **dict.fromkeys(("dict_type", "mapping_type"), "keys with values, such as {{key: value}}"),
    **dict.fromkeys(("model_type", "model_attributes_type"), "a section of settings, such as {{key: value}}"),
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
"""What a value must be, by pydantic's name of the error, with the words of its context."""


class Fault(NamedTuple):
    """One thing that is wrong."""

    place: Place
    message: str = ""
    """What is allowed, and what to do."""
    value: str = ""
    """The value, as a file has it."""
    form: str = GENERAL

    def text(self) -> str:
        """Return the fault in words."""
        form = self.form if self.place else "{message}"
        return form.format(key=".".join(self.place), value=self.value, message=self.message)


class Invalid(UserError):
    """Settings that cannot be used; `what` they are for, and all their faults.

    `where` gives the place of a setting in a file, for people: `line 12`.
    """

    def __init__(self, what: str, faults: Iterable[Fault], where: Mapping[Place, str] | None = None):
        self.what, self.faults, self.where = what, tuple(faults), dict(where or {})
        lines = [": ".join(filter(None, (_where(fault.place, self.where), fault.text()))) for fault in self.faults]
        super().__init__("\n  ".join([f"{what} is not valid:", *lines]))

    def __reduce__(self) -> tuple[type[Invalid], tuple[Any, ...]]:
        return Invalid, (self.what, self.faults, self.where)  # workers of Ray send their errors

    def within(self, what: str, where: Mapping[Place, str]) -> Invalid:
        """Return the same error as one of the file `what`, with the places of its faults, in the order of `where`."""
        order = {line: number for number, line in enumerate(where.values())}
        return Invalid(what, sorted(self.faults, key=lambda fault: order.get(_where(fault.place, where), -1)), where)

    def moved(self, place: Place) -> list[Fault]:
        """Return the faults of what stands at `place` in something larger."""
        return [fault._replace(place=(*place, *fault.place)) for fault in self.faults]


def faults_of(
    errors: Sequence[Mapping[str, Any]], content: Mapping[str, Any], keys_at: Callable[[Place], Iterable[str]]
) -> list[Fault]:
    """Return the faults in pydantic's errors about `content`; `keys_at` gives the keys that a section knows."""
    located = [(*_place(error, content), error) for error in errors]
    branches = [place for place, branch, _ in located if branch]
    faults: dict[Any, Fault] = {}
    allowed: dict[Place, list[str]] = {}
    for place, branch, error in located:
        if branch and any(other[: len(place)] == place != other for other in branches):
            continue  # another branch of the union came further
        cause = error.get("ctx", {}).get("error")
        if isinstance(cause, Invalid):
            faults.update({fault: fault for fault in cause.moved(place)})
        elif error["type"] == "missing":
            faults[place] = Fault(place, form=MISSING)
        elif error["type"] == "extra_forbidden":
            faults[place] = Fault(place, nearest(place[-1], keys_at(place[:-1])), form=UNKNOWN)
        elif error["type"] in ALLOWED:
            wanted = allowed.setdefault(place, [])
            wanted.append(_allowed(error))
            message = f"must be {' or '.join(dict.fromkeys(wanted))}{_hint(error['input'], wanted)}"
            faults[place] = Fault(place, message, _shown(error["input"]), WRONG)
        else:
            message = str(cause) if cause else error["msg"]
            faults[place, message] = Fault(place, message)
    return list(faults.values())


def _place(error: Mapping[str, Any], content: Any) -> tuple[Place, bool]:
    """The keys among the parts of an error's location, and whether others were left out: the branches of a union."""
    place: list[str] = []
    parts, branch = error["loc"], False
    for number, part in enumerate(parts, start=1):
        held = content if isinstance(content, Mapping) else {}
        held = dict(enumerate(content)) if isinstance(content, list | tuple) else held
        key = next((key for key in held if str(key) == str(part)), None)
        if key is not None:
            place.append(str(key))
            content = held[key]
        elif number == len(parts) and error["type"] == "missing":
            place.append(str(part))
        else:
            branch = True
    return tuple(place), branch


def _allowed(error: Mapping[str, Any]) -> str:
    """What a value must be."""
    context = error.get("ctx", {})
    if isinstance(error["input"], BaseModel):  # a section, but another one
        return str(context["class_name"])
    return ALLOWED[error["type"]].format(**context)


def _hint(value: Any, allowed: Sequence[str]) -> str:
    """What to write instead, where that can be told."""
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
    """A value as a file has it, cut where it is long."""
    if value is None:
        return "nothing"
    if isinstance(value, BaseModel):
        return type(value).__name__
    text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _where(place: Place, where: Mapping[Place, str]) -> str:
    """The nearest known place in the file at or above a setting."""
    return next((where[place[:end]] for end in range(len(place), 0, -1) if place[:end] in where), "")
