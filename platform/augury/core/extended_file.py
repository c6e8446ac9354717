"""YAML files that extend others: `extends: base.yaml`, a path relative to the file.

Mappings are merged key by key, as `--set` does; anything else, lists too, replaces what it extends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from augury.core import yaml_file
from augury.core.errors import UserError
from augury.core.faults import KeyPath
from augury.core.home import expanded

EXTENDS = "extends"


class ExtendedFile(NamedTuple):
    """The content of a file with that of the files it extends."""

    content: dict[str, Any]
    places: dict[KeyPath, str]
    """Where every key and list item stands: `line 3`, or `base.yaml, line 3` for another file."""


def read(path: str | Path) -> ExtendedFile:
    """Read a YAML file and what it extends; UserError where a file cannot be read or extends
    itself. One in a remote storage, given by its URI, stands alone."""
    if "://" not in str(path):
        return _read(Path(path), ())
    content, lines = yaml_file.read(path)
    if EXTENDS in content:
        raise UserError(f"{path} extends another file: copy both to this machine")
    return ExtendedFile(content, {keys: f"line {line}" for keys, line in lines.items()})


def _read(path: Path, extended_by: Sequence[Path]) -> ExtendedFile:
    file = yaml_file.read(path)
    content = {key: value for key, value in file.content.items() if key != EXTENDS}
    prefix = f"{path}, " if extended_by else ""
    places = {
        keys: f"{prefix}line {line}" for keys, line in file.lines.items() if keys != (EXTENDS,)
    }
    if EXTENDS not in file.content:
        return ExtendedFile(content, places)
    place = f"{path}, line {file.lines[EXTENDS,]}: {EXTENDS}"
    base = file.content[EXTENDS]
    if not isinstance(base, str):
        raise UserError(f"{place} is {base!r}: give the path of one file, relative to this one")
    other = path.parent / expanded(base)
    chain = [*extended_by, path]
    if other.resolve() in [file.resolve() for file in chain]:
        raise UserError(
            f"{place}: the files extend each other in a circle, "
            f"{' -> '.join(map(str, [*chain, other]))}: let one of them stand alone"
        )
    try:
        extended = _read(other, chain)
    except UserError as error:
        raise error if str(other) not in str(error) else UserError(f"{place}: {error}") from error
    merged = extend(extended.content, content)
    kept = {keys: place for keys, place in extended.places.items() if _has(merged, keys)}
    return ExtendedFile(merged, kept | places)


def extend(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of `base` with the settings of `changes`; nested mappings are merged.

    A section given as a bare name (`regime: plain`) keeps the name. An empty mapping replaces.
    """
    result = dict(base)
    for key, value in changes.items():
        before = result.get(key)
        if isinstance(value, Mapping) and value and isinstance(before, str):
            before = {"name": before}
        if isinstance(value, Mapping) and value and isinstance(before, Mapping):
            result[key] = extend(before, value)
        else:
            result[key] = value
    return result


def _has(content: Any, keys: KeyPath) -> bool:
    for key in keys:
        if isinstance(content, list):
            if int(key) >= len(content):
                return False
            content = content[int(key)]
        elif isinstance(content, Mapping):
            names = {str(name): name for name in content}
            if key not in names:
                return False
            content = content[names[key]]
        else:
            return False
    return True
