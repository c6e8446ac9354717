"""Whatever a setting is set to, it is taken or refused as an error of the user's."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.experiments.spec import parse
from augury.experiments.systems import expand
from tests import tiny

BAD: tuple[Any, ...] = (10**18, -1, float("inf"), "", "a\0b", True, None, [], {"": 1})
OPERATORS = {
    "nmt": ({"operator": "cipher", "keys": [1]}, {"operator": "raml"}),
    "nli": ({"operator": "eda"}, {"operator": "noise", "spelling": 0.1}, {"operator": "semantic"}),
    "classification": ({"operator": "eda"},),
    "seq2seq": (),
}
REGIME = {"nmt": "coregularised", "nli": "adversarial"}
ALLOCATING = re.compile(r"builtin|lexicon|size|layers|positions|copies|samples|threads|^steps")
"""In the names of settings of which a large value takes memory or an age."""


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every section, item and value below one."""
    children = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list) and value and isinstance(value[0], dict):
        children = enumerate(value)
    for key, child in children:
        yield from paths(child, (*path, key))
    if path:
        yield path


def with_value(content: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    content = copy.deepcopy(content)
    section: Any = content
    for key in path[:-1]:
        if isinstance(section, dict) and not isinstance(section.get(key), dict | list):
            section[key] = {}
        section = section[key]
    section[path[-1]] = value
    return content


@pytest.mark.parametrize("task", OPERATORS)
def test_bad_values_are_errors_of_the_user(task: str, tmp_path: Path) -> None:
    content = tiny.content(task, tmp_path, augment=list(OPERATORS[task]))
    if task in REGIME:
        content["regime"] = {"name": REGIME[task]}
    known = expand(parse(content))
    (experiment,) = known.values()
    resolved = experiment.model_dump(mode="json")
    content["augment"] = resolved["augment"]
    huge = []
    for path in paths(resolved):
        if path[0] in ("systems", "stages"):
            continue
        for value in BAD:
            try:
                expand(parse(with_value(content, path, value)))
            except UserError:
                continue
            if value == 10**18 and ALLOCATING.search(str(path[-1])):
                huge.append(".".join(map(str, path)))
    assert not huge
