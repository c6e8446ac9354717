"""Settings in YAML files: lines of keys, what cannot be read, what a file extends."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from augury.core.config import merge
from augury.core.errors import UserError
from augury.core.yaml_file import extend, read


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "toy.yaml"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: 1\nb: 2\na: 3\n", "line 3: duplicate key 'a', first in line 1:"),
        (b"a:\n\tb: 2\n", "line 2: not valid YAML.*not with tabs"),
        (b"a: 1\nb: \xff\n", "line 2: byte 0xff is not UTF-8"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_line(
    path: Path, content: bytes, message: str
) -> None:
    path.write_bytes(content)
    with pytest.raises(UserError, match=message):
        read(path)


def test_whole_numbers_are_those_of_yaml_1_2(path: Path) -> None:
    path.write_text("a: 010\nb: 1_000\nc: 1:30\nd: -5\ne: 1.5\nf: 08\n")
    content = {"a": 10, "b": 1000, "c": "1:30", "d": -5, "e": 1.5, "f": 8}
    assert read(path).content == content


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_text(text, encoding="utf-8", newline="")
    with suppress(UserError):
        assert isinstance(read(path).content, dict)


BASE: dict[str, Any] = {
    "regime": "coregularised",
    "augment": [{"operator": "cipher", "keys": [1, 2]}, {"operator": "noise"}],
    "training": {"max_epochs": 3, "patience": 5},
    "systems": {"A": {"regime.beta": 1}},
}


@pytest.mark.parametrize("changes", [{"training": {"max_epochs": 9}}, {"regime": {"beta": 5}}])
def test_it_merges_as_overrides_do(changes: dict[str, dict[str, int]]) -> None:
    before = yaml.safe_dump(BASE)
    ((section, values),) = changes.items()
    dotted = {f"{section}.{key}": value for key, value in values.items()}
    assert extend(BASE, changes) == merge(BASE, dotted)
    assert yaml.safe_dump(BASE) == before


def test_a_section_that_is_null_is_dropped() -> None:
    assert extend(BASE, {"augment": None}) == {key: BASE[key] for key in BASE if key != "augment"}
    kept = {"training": {"max_epochs": None}}
    assert extend(BASE, kept)["training"] == {"max_epochs": None, "patience": 5}


def test_each_key_has_the_place_that_it_comes_from(tmp_path: Path) -> None:
    base, middle, last = (tmp_path / "shared" / "base.yaml", tmp_path / "m.yaml", tmp_path / "l")
    base.parent.mkdir()
    base.write_text("a: {x: 1,\n  y: 2}\nb: [1, 2]\nc: 3\n")
    middle.write_text("extends: shared/base.yaml\nb: [7]\n")
    last.write_text("a: {y: 3}\nextends: m.yaml\n")
    file = read(last)
    assert file.content == {"a": {"x": 1, "y": 3}, "b": [7], "c": 3}
    assert {**file.places, ("b", "1"): ""} == {
        ("a",): "line 1",
        ("a", "x"): f"{base}, line 1",
        ("a", "y"): "line 1",
        ("b",): f"{middle}, line 2",
        ("b", "0"): f"{middle}, line 2",
        ("b", "1"): "",  # of a list that is replaced: in no use
        ("c",): f"{base}, line 4",
    }


def test_files_that_extend_each_other_are_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("extends: other.yaml\n")
    (tmp_path / "other.yaml").write_text("extends: mine.yaml\n")
    with pytest.raises(UserError, match="in a circle"):
        read(tmp_path / "mine.yaml")
