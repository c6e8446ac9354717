"""Files that extend others: what is merged, where errors are, what cannot be extended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from augury.core.config import merge
from augury.core.errors import UserError
from augury.core.extended_file import extend, read

BASE: dict[str, Any] = {
    "regime": "coregularised",
    "augment": [{"operator": "cipher", "keys": [1, 2]}, {"operator": "noise"}],
    "training": {"max_epochs": 3, "patience": 5},
    "systems": {"A": {"regime.beta": 1}},
}


@pytest.mark.parametrize(
    ("changes", "dotted"),
    [
        ({"regime": {"beta": 5}}, {"regime.beta": 5}),
        ({"training": {"max_epochs": 9}}, {"training.max_epochs": 9}),
        ({"training": {"precision": "bf16"}}, {"training.precision": "bf16"}),
        ({"training": {}}, {"training": {}}),
        ({"augment": []}, {"augment": []}),
        ({"regime": "plain", "name": "new"}, {"regime": "plain", "name": "new"}),
        ({"systems": {"A": {"regime.tau": 2}}}, {"systems.A.regime.tau": 2}),
        ({"systems": {"B": {"training.seed": 1}}}, {"systems.B.training.seed": 1}),
    ],
)
def test_it_merges_as_overrides_do(changes: dict[str, Any], dotted: dict[str, Any]) -> None:
    before = yaml.safe_dump(BASE)
    assert extend(BASE, changes) == merge(BASE, dotted)
    assert yaml.safe_dump(BASE) == before


def test_each_key_has_the_place_that_it_comes_from(tmp_path: Path) -> None:
    base, middle, last = (tmp_path / "shared" / "base.yaml", tmp_path / "m.yaml", tmp_path / "l")
    base.parent.mkdir()
    base.write_text("a: {x: 1,\n  y: 2}\nb: [1, 2]\nc: 3\n")
    middle.write_text("extends: shared/base.yaml\nb: [7]\n")
    last.write_text("a: {y: 3}\nextends: m.yaml\n")
    file = read(last)
    assert file.content == {"a": {"x": 1, "y": 3}, "b": [7], "c": 3}
    assert file.places == {
        ("a",): "line 1",
        ("a", "x"): f"{base}, line 1",
        ("a", "y"): "line 1",
        ("b",): f"{middle}, line 2",
        ("b", "0"): f"{middle}, line 2",
        ("c",): f"{base}, line 4",
    }


@pytest.mark.parametrize(
    ("extends", "message"),
    [
        ("mine.yaml", "in a circle"),
        ("other.yaml", "in a circle"),
        ("nowhere.yaml", "mine.yaml, line 2: extends: no experiment file"),
        ("[a.yaml, b.yaml]", "give the path of one file"),
    ],
)
def test_what_cannot_be_extended_is_an_error(tmp_path: Path, extends: str, message: str) -> None:
    (tmp_path / "mine.yaml").write_text(f"name: x\nextends: {extends}\n")
    (tmp_path / "other.yaml").write_text("extends: mine.yaml\n")
    with pytest.raises(UserError, match=message):
        read(tmp_path / "mine.yaml")
