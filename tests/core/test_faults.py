from __future__ import annotations

import pickle
from typing import Any, Literal

import pytest
from pydantic import Field, model_validator

from augury.core.config import Section, validate
from augury.core.errors import UserError
from augury.core.faults import SHOWN, InvalidSettings


class Inner(Section):
    size: int = Field(1, ge=1)


class Text(Section):
    a: int = 0
    b: int = 0

    @model_validator(mode="after")
    def _one(self) -> Text:
        if self.a and self.b:
            raise UserError("a and b are given")
        return self


class Outer(Section):
    text: Text | tuple[Text, ...] = Text()
    names: tuple[str, ...] = ()
    paths: str | tuple[str, ...] | None = None
    choice: Literal["small", "tiny"] = "small"
    inner: Inner | None = None
    nested: Inner = Inner(size=1)
    labels: dict[str, Inner] = {}
    parts: tuple[Inner, ...] = ()
    rate: float = 1.0


def faults(**content: Any) -> list[str]:
    with pytest.raises(InvalidSettings) as raised:
        validate(Outer, content, "file")
    return [fault.text() for fault in raised.value.faults]


def test_a_branch_that_checks_the_content_speaks_alone() -> None:
    assert faults(text={"a": 1, "b": 1}) == ["text: a and b are given"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"names": "a"}, "names = 'a': must be a list: [a]"),
        ({"names": [1, "b", True]}, "names.0 = 1: must be text: put it in quotes, '1'"),
        ({"paths": 3}, "paths = 3: must be text or a list: put it in quotes, '3'"),
        ({"paths": [3]}, "paths.0 = 3: must be text: put it in quotes, '3'"),
        ({"choice": "smal"}, "choice = 'smal': must be 'small' or 'tiny': did you mean 'small'?"),
        ({"choice": False}, "choice = false: must be 'small' or 'tiny'"),
        ({"inner": "x"}, "inner = 'x': must be a section of settings, such as {key: value}"),
        ({"inner": {"size": 0}}, "inner.size = 0: must be at least 1"),
        ({"inner": {"size": 1.5}}, "inner.size = 1.5: must be a whole number"),
        ({"labels": {2016: {}}}, "labels.2016 = 2016: must be text: put it in quotes, '2016'"),
        ({"labels": {"a": {"syze": 1}}}, "unknown key 'labels.a.syze': did you mean 'size'?"),
        ({"parts": [{"size": 0}]}, "parts.0.size = 0: must be at least 1"),
        ({"size": 2}, "unknown key 'size': did you mean 'nested.size'?"),
        ({"inner": {"rate": 2}}, "unknown key 'inner.rate': allowed: size"),
        ({"choices": "tiny"}, "unknown key 'choices': did you mean 'choice'?"),
        ({"choice": 101 * "a"}, f"choice = {repr(101 * 'a')[:SHOWN]}…: must be 'small' or 'tiny'"),
        ({"rate": "fast"}, "rate = 'fast': must be a number"),
        ({"rate": None}, "rate = nothing: must be a number"),
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
