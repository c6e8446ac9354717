"""Operators, regimes, tasks and metrics by path: found, addressed, the same elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pytest

from augury.augment import operator, pipeline
from augury.core import config
from augury.core.errors import UserError
from augury.core.store import Store
from augury.regimes import regime

OPERATOR = '''
import pyarrow as pa
from augury.augment.operator import OperatorOutput, Operator

class Repeated(Operator):
    """Say everything several times."""
    operator: str = "repeated"
    times: int = 2

    def bind(self, fitted, store):
        def apply(block):
            texts = [" ".join([text] * self.times) for text in block.column("source").to_pylist()]
            return OperatorOutput(pa.table({"id": block.column("id"), "text": texts}))
        return apply

OPERATOR = Repeated
'''
REGIME = '''
from augury.regimes.multi_source import MultiSource

class Twice(MultiSource):
    """All views, as often as asked."""
    name: str = "twice"

REGIME = Twice
'''


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a file of every kind."""
    (tmp_path / "repeated.py").write_text(OPERATOR)
    (tmp_path / "twice.py").write_text(REGIME)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_operator_by_path_is_the_same_where_it_is_read_again(directory: Path) -> None:
    parsed = operator.parse({"operator": "./repeated.py", "times": 3})
    assert (parsed.name(), parsed.to_dict()["times"]) == ("repeated", 3)
    block = pa.table({"id": ["a"], "source": ["ja"], "target": ["yes"]})
    made = parsed.bind({}, Store(directory))(block).table.to_pydict()
    assert made == {"id": ["a"], "text": ["ja ja ja"]}
    described = parsed.to_dict()
    assert operator.parse(described) == parsed
    (directory / "repeated.py").write_text(OPERATOR + "\n")
    with pytest.raises(UserError, match="has changed"):
        operator.parse(described)


def test_the_address_depends_on_the_content_of_the_file_and_not_on_its_place(
    directory: Path,
) -> None:
    def addresses(path: str) -> tuple[str, ...]:
        views = operator.parse({"operator": path})
        (part,) = pipeline.plan("corpus", [views], Store(directory))
        return part.folder.name, part.fit.name, config.address(regime.parse("./twice.py").to_dict())

    first = addresses("./repeated.py")
    (directory / "moved").mkdir()
    os.link(directory / "repeated.py", directory / "moved" / "repeated.py")
    assert addresses("moved/repeated.py") == first
    (directory / "repeated.py").write_text(OPERATOR.replace('" ".join', '"_".join'))
    (directory / "twice.py").write_text(REGIME + "\n")
    assert not set(first) & set(addresses("./repeated.py"))


def test_a_folder_is_no_operator(directory: Path) -> None:
    (directory / "repeats").mkdir()
    with pytest.raises(UserError, match="/repeats is a folder: give the file in it. Built-in"):
        operator.parse({"operator": "./repeats"})
