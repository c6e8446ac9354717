"""Settings in YAML files, with the line of every key; a file may extend another.

`extends: base.yaml` is a path relative to the file. Mappings are merged key by key, as `--set`
does; lists, and the named mappings `systems` and `stages`, replace those of the base, and a section
that is `null` drops it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from augury.core.errors import UserError, nearest
from augury.core.faults import KeyPath
from augury.core.paths import FileText, expanded

MOST = 100_000
"""Keys and list items, with every alias written out: a few lines make them billions."""
MERGE = "tag:yaml.org,2002:merge"
EXTENDS = "extends"
VARIANTS = ("systems", "stages")
"""Sections that map names to dotted keys with values; a file replaces them as a whole, as it does
lists."""


class _Loader(yaml.SafeLoader):
    """Reads whole numbers as YAML 1.2 does: 010 is ten, and 1:30 a text."""


WHOLE = "tag:yaml.org,2002:int"
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != WHOLE]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(WHOLE, re.compile(r"[-+]?[0-9][0-9_]*$"), list("-+0123456789"))
_Loader.add_constructor(WHOLE, lambda loader, node: int(str(node.value)))


class YamlFile(NamedTuple):
    """The content of a file with that of the files it extends."""

    content: dict[str, Any]
    """Every text in it knows the folder of its file (`FileText`), where relative paths begin."""
    places: dict[KeyPath, str]
    """Where every key and list item stands: `line 3`, or `base.yaml, line 3` for another file."""
    files: tuple[str, ...]
    """The file and those it extends."""


def read(path: str | Path) -> YamlFile:
    """Read a YAML file and what it extends; UserError unless they hold mappings without duplicate
    keys. They may be in a remote storage, given by their URIs."""
    return _read(str(path), ())


def parse(text: str | bytes) -> Any:
    """Return the content of YAML that Augury has written, as `yaml.safe_load` does."""
    return yaml.safe_load(text)


def value(text: str, name: str) -> Any:
    """Return the value of YAML on a command line; UserError where it is none."""
    return _loaded(text, name)[0]


def inline(value: Any) -> str:
    """Return a value as YAML in a line, with texts quoted as far as it needs."""
    options: dict[str, Any] = {"default_flow_style": True, "sort_keys": False, "width": 10**6}
    return yaml.safe_dump([value], allow_unicode=True, **options)[1:-2]


def with_texts(content: Any, change: Callable[[str], Any]) -> Any:
    """Return a copy of nested settings, each section of which can be changed on its own (aliases of
    YAML are the same object), with every text in them changed by a function."""
    if isinstance(content, Mapping):
        return {key: with_texts(value, change) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [with_texts(value, change) for value in content]
    return change(content) if isinstance(content, str) else content


def extend(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of the settings of a file with the changes of one that extends it."""
    replaced = {key: changes[key] for key in VARIANTS if key in changes}
    merged = _merged(base, changes) | replaced
    return {key: value for key, value in merged.items() if changes.get(key, "") is not None}


def _merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of `base` with the settings of `changes`; nested mappings are merged.

    A section given as a bare name (`regime: plain`) keeps the name. An empty mapping replaces.
    """
    result = dict(base)
    for key, change in changes.items():
        before = result.get(key)
        if isinstance(change, Mapping) and change and isinstance(before, str | Mapping):
            section = {"name": before} if isinstance(before, str) else before
            result[key] = _merged(section, change)
        else:
            result[key] = change
    return result


def _read(path: str, extended_by: Sequence[str]) -> YamlFile:
    text = _remote_text(path) if "://" in path else _local_text(Path(path))
    content, lines = _loaded(text, path)
    if not isinstance(content, dict):
        kind = "nothing" if content is None else f"{content!r:.40}"
        raise UserError(f"{path} holds {kind}: write a mapping of sections (name:, corpus:, ...)")
    content = with_texts(content, lambda text: FileText(text, os.path.dirname(path)))
    base = content.pop(EXTENDS, None)
    prefix = f"{path}, " if extended_by else ""
    places = {keys: f"{prefix}line {line}" for keys, line in lines.items() if keys != (EXTENDS,)}
    if (EXTENDS,) not in lines:
        return YamlFile(content, places, (path,))
    place = f"{path}, line {lines[EXTENDS,]}: {EXTENDS}"
    if not isinstance(base, str):
        raise UserError(f"{place} is {base!r}: give the path of one file, relative to this one")
    other = os.path.join(os.path.dirname(path), expanded(base))
    chain = [*extended_by, path]
    if os.path.realpath(other) in map(os.path.realpath, chain):
        raise UserError(
            f"{place}: the files extend each other in a circle, "
            f"{' -> '.join([*chain, other])}: let one of them stand alone"
        )
    try:
        extended = _read(other, chain)
    except UserError as error:
        raise error if other not in str(error) else UserError(f"{place}: {error}") from error
    merged = extend(extended.content, content)
    return YamlFile(merged, extended.places | places, (path, *extended.files))


def _local_text(path: Path) -> str:
    if path.is_dir():
        raise UserError(f"'{path}' is a directory: give the path of a YAML file")
    if not path.is_file():
        siblings = [*path.parent.glob("*.yaml"), *path.parent.glob("*.yml")]
        hint = nearest(str(path), [str(sibling) for sibling in siblings])
        if not hint.endswith("?"):
            hint = "give the path of a YAML file; `augury init` writes one"
        raise UserError(f"no experiment file '{path}': {hint}")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UserError(
            f"{path}, line {line}: byte 0x{error.object[error.start]:02x} is not UTF-8"
        ) from error


def _remote_text(uri: str) -> str:
    """Return the text of a file in a remote storage, such as the experiment that a sweep there
    recommends."""
    from augury.core.store import Folder  # slow: imports pyarrow

    place, mark, query = uri.partition("?")
    root, _, name = place.rpartition("/")
    try:
        return Folder(f"{root}{mark}{query}", "").read(name).decode()
    except FileNotFoundError as error:
        raise UserError(f"no experiment file '{uri}'") from error


def _loaded(text: str, path: str) -> tuple[Any, dict[KeyPath, int]]:
    """Return the value in a text, and the line, from 1, of every key and list item; UserError for
    what is no YAML."""
    try:
        loader = _Loader(text)  # that of libyaml dies of too deep a nesting
        root = loader.get_single_node()
        if root is None:
            return None, {}
        lines: dict[KeyPath, int] = {}
        for keys, line in islice(_lines(root), MOST):
            if keys in lines:
                raise UserError(
                    f"{path}, line {line}: duplicate key '{'.'.join(keys)}', first in line "
                    f"{lines[keys]}: rename or remove one of them"
                )
            lines[keys] = line
        if len(lines) == MOST:
            raise UserError(f"{path} has {MOST:,} keys and items or more: write fewer")
        return loader.construct_document(root), lines
    except RecursionError as error:
        raise UserError(
            f"{path} is nested too deeply, or an alias in it is part of what it stands for: write "
            "it flatter"
        ) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line if mark else 0
        problem = " ".join(f"{error.context or ''} {error.problem or ''}".split())
        tabbed = "".join(text.splitlines()[line : line + 1]).lstrip(" ").startswith("\t")
        hint = "; indent with spaces, not with tabs" if tabbed else ""
        raise UserError(f"{path}, line {line + 1}: not valid YAML: {problem}{hint}") from error
    except UserError:
        raise
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date such as 2026-02-30
        raise UserError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from error


def _lines(node: yaml.Node, keys: KeyPath = ()) -> Iterator[tuple[KeyPath, int]]:
    """Yield the line of every key below a node."""
    children: list[tuple[str, yaml.Node, yaml.Node]] = []
    if isinstance(node, yaml.ScalarNode):
        node.value.encode()  # ValueError for half of a character, which no file can hold
    if isinstance(node, yaml.SequenceNode):
        children = [(str(index), item, item) for index, item in enumerate(node.value)]
    elif isinstance(node, yaml.MappingNode):
        named = [pair for pair in node.value if isinstance(pair[0], yaml.ScalarNode)]
        children = [(key.value, key, item) for key, item in named if key.tag != MERGE]
    for name, key, item in children:
        yield (*keys, name), key.start_mark.line + 1
        yield from _lines(item, (*keys, name))
