"""YAML files with the line of every key, so that errors can point to it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from augury.core.errors import UserError, nearest
from augury.core.faults import KeyPath

LONGEST, DEEPEST, MOST = 10_000_000, 100, 1_000_000
"""Limits of a file: characters, levels of nesting, and keys and items with every alias written
out."""
MERGE = "tag:yaml.org,2002:merge"


class YamlFile(NamedTuple):
    """The content of a YAML file."""

    content: dict[str, Any]
    lines: dict[KeyPath, int]
    """Line, from 1, of every key and list item."""


def read(path: str | Path) -> YamlFile:
    """Read a YAML file; raise UserError unless it holds a mapping without duplicate keys."""
    text = _remote_text(str(path)) if "://" in str(path) else _text(Path(path))
    loader = _loader()(text)
    try:
        root = _composed(loader, text, str(path))
        if not isinstance(root, yaml.MappingNode):
            kind = "nothing" if root is None else f"a {root.id}"
            raise UserError(
                f"{path} holds {kind}: write a mapping of sections (name:, corpus:, ...)"
            )
        lines = dict(_lines(root, str(path)))
        return YamlFile(loader.construct_document(root), lines)
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(path, text, error) from error
    except yaml.YAMLError as error:
        raise UserError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from error
    finally:
        loader.dispose()


def parse(text: str | bytes) -> Any:
    """Return the content of YAML that Augury has written, as `yaml.safe_load` does."""
    return yaml.load(text, Loader=_loader())


def value(text: str, name: str) -> Any:
    """Return the value of YAML on a command line, which has the limits of files; YAMLError where
    it is none."""
    loader = _loader()(text)
    try:
        root = _composed(loader, text, name)
        if root is None:
            return None
        for _ in _lines(root, name):  # raises for what is written twice
            pass
        return loader.construct_document(root)
    finally:
        loader.dispose()


@cache
def _loader() -> Any:
    """Return the class that loads YAML: with libyaml, if it is installed, ten times as fast."""
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _composed(loader: Any, text: str, path: str) -> Any:
    """Return the node of a text, None without one; UserError where it is beyond the limits."""
    _check_nesting(path, text)
    root = loader.get_single_node()
    if root is not None:
        _written_out(root, path, {})
    return root


def scalar(text: str) -> str:
    """Return text quoted as far as YAML needs it."""
    return yaml.safe_dump([text], default_flow_style=True, allow_unicode=True, width=10**6)[1:-2]


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


def _text(path: Path) -> str:
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


def _check_nesting(path: str | Path, text: str) -> None:
    """Raise UserError for a file that is too large or too deep to be composed."""
    if len(text) > LONGEST:
        raise UserError(f"{path} has {len(text):,} characters: write at most {LONGEST:,}")
    depth, start, end = 0, yaml.CollectionStartEvent, yaml.CollectionEndEvent
    for event in yaml.parse(text, Loader=_loader()):
        depth += isinstance(event, start)
        depth -= isinstance(event, end)
        if depth > DEEPEST:
            line = event.start_mark.line + 1 if event.start_mark else "?"
            raise UserError(
                f"{path}, line {line}: more than {DEEPEST} levels of nesting: write them flatter"
            )


def _written_out(node: yaml.Node, path: str, sizes: dict[int, int]) -> int:
    """Return the number of nodes of a tree with its aliases written out.

    UserError for too many, which a few lines of aliases of aliases can be. `sizes` are those of
    nodes that are known; 0 while they are being counted, as for an alias within its own anchor.
    """
    if id(node) in sizes:
        return sizes[id(node)]
    sizes[id(node)] = 0
    children: list[yaml.Node] = []
    if isinstance(node, yaml.MappingNode):
        children = [child for pair in node.value for child in pair]
    elif isinstance(node, yaml.SequenceNode):
        children = node.value
    size = 1 + sum(_written_out(child, path, sizes) for child in children)
    if size > MOST:
        line = node.start_mark.line + 1
        raise UserError(
            f"{path}, line {line}: aliases make this more than {MOST:,} keys and items: write "
            "fewer of them"
        )
    sizes[id(node)] = size
    return size


def _not_yaml(path: str | Path, text: str, error: yaml.MarkedYAMLError) -> UserError:
    mark = error.problem_mark or error.context_mark
    line = mark.line if mark else 0
    problem = " ".join(f"{error.context or ''} {error.problem or ''}".split())
    tabbed = any(part.lstrip(" ").startswith("\t") for part in text.splitlines()[line : line + 1])
    hint = "; indent with spaces, not with tabs" if tabbed else ""
    return UserError(f"{path}, line {line + 1}: not valid YAML: {problem}{hint}")


def _lines(
    node: yaml.Node, path: str, keys: KeyPath = (), ancestors: tuple[int, ...] = ()
) -> Iterator[tuple[KeyPath, int]]:
    """Yield the line of every key below a node; UserError for duplicate keys and cyclic aliases."""
    if id(node) in ancestors:
        raise UserError(
            f"{path}: {'.'.join(keys)} is an alias of a node that contains it: write it out"
        )
    if isinstance(node, yaml.SequenceNode):
        children = [(str(index), item, item) for index, item in enumerate(node.value)]
    elif isinstance(node, yaml.MappingNode):
        _check_unique(node, path, keys)
        children = [
            (key.value, key, value)
            for key, value in node.value
            if isinstance(key, yaml.ScalarNode) and key.tag != MERGE
        ]
    else:
        return
    for name, key, value in children:
        yield (*keys, name), key.start_mark.line + 1
        yield from _lines(value, path, (*keys, name), (*ancestors, id(node)))


def _check_unique(node: yaml.MappingNode, path: str, keys: KeyPath) -> None:
    lines: dict[tuple[str, str], int] = {}
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        name, line = (key.tag, key.value), key.start_mark.line + 1
        if name in lines:
            where = f" in {'.'.join(keys)}" if keys else ""
            raise UserError(
                f"{path}, line {line}: duplicate key '{key.value}'{where}, first in line "
                f"{lines[name]}: rename or remove one of them"
            )
        lines[name] = line
