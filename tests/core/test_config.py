from __future__ import annotations

import copy
import pickle
from typing import Any, Literal

import pytest
from pydantic import Field

from augury.core.config import Section, address, merge, parse_assignments, validate
from augury.core.faults import InvalidSettings


def test_overrides_set_values_below_dots_and_leave_the_original() -> None:
    content: dict[str, Any] = {"name": "a", "regime": {"beta": 1}, "items": [{"beta": 1}, 2]}
    before = copy.deepcopy(content)
    changes = parse_assignments(["regime.beta=2.5", "items.0.beta=[9]", "new.key=x"])
    assert merge(content, changes) == {
        "name": "a",
        "regime": {"beta": 2.5},
        "items": [{"beta": [9]}, 2],
        "new": {"key": "x"},
    }
    assert content == before


def test_address_depends_on_content_and_not_on_the_order_of_keys() -> None:
    assert address({"a": 1, "b": [1, 2]}) == address({"b": [1, 2], "a": 1})
    assert address({"a": 1}) != address({"a": 2})
    assert len(address("x")) == 16
    # pinned: a change would orphan everything that users have stored
    assert address({"operator": "cipher", "keys": [1]}) == "04f0f7d0b607a59c"


def test_a_change_of_a_system_or_stage_is_a_dotted_key() -> None:
    content = {"stages": {"tune": {"training.patience": 3}}, "training": {"patience": 1}}
    changed = merge(content, {"stages.tune.training.patience": 5, "stages.tune.carry": "optimizer"})
    assert changed["stages"] == {"tune": {"training.patience": 5, "carry": "optimizer"}}
    of_system = merge({"systems": {"a": {}}}, {"systems.a.stages.tune.training.patience": 2})
    assert of_system == {"systems": {"a": {"stages.tune.training.patience": 2}}}


class Sized(Section):
    size: int = Field(1, ge=1)


class Outer(Section):
    names: tuple[str, ...] = ()
    choice: Literal["small", "tiny"] = "small"
    inner: Sized | None = None
    nested: Sized = Sized(size=1)
    labels: dict[str, Sized] = {}
    parts: tuple[Sized, ...] = ()
    rate: float = 1.0


def faults(**content: Any) -> list[str]:
    with pytest.raises(InvalidSettings) as raised:
        validate(Outer, content, "file")
    return [fault.text() for fault in raised.value.faults]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"names": "a"}, "names = 'a': must be a list: [a]"),
        ({"names": [1, "b", True]}, "names.0 = 1: must be text: put it in quotes, '1'"),
        ({"choice": "smal"}, "choice = 'smal': must be 'small' or 'tiny': did you mean 'small'?"),
        ({"labels": {2016: {}}}, "labels.2016 = 2016: must be text: put it in quotes, '2016'"),
        ({"parts": [{"size": 0}]}, "parts.0.size = 0: must be at least 1"),
        ({"size": 2}, "unknown key 'size': did you mean 'nested.size'?"),
    ],
)
def test_faults_speak_of_the_file(content: dict[str, Any], message: str) -> None:
    assert faults(**content)[0] == message


def test_the_line_is_that_of_the_nearest_key_above() -> None:
    with pytest.raises(InvalidSettings) as raised:
        validate(Outer, {"rate": "x", "inner": {"size": 0}}, "file")
    moved = raised.value.in_file("file", {("inner",): "line 2", ("rate",): "line 5"})
    assert str(pickle.loads(pickle.dumps(moved))) == str(moved)
    assert [line.split(":")[0] for line in str(moved).splitlines()[1:]] == ["  line 2", "  line 5"]
