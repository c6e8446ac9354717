"""What the README tells people to type exists and works."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest
import yaml

import augury.augment
from augury.augment import operator
from augury.cli.verbs import VERBS
from augury.config import merge
from augury.corpora.known import KNOWN
from augury.experiment import parse, systems
from augury.store import Store
from augury.sweeping import points, space
from tests.commands import parsed

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def block(language: str, holding: str = "") -> str:
    """The first block of a language that holds a text."""
    found = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return next(text for text in found if holding in text)


def test_its_experiment_is_valid() -> None:
    experiment = parse(yaml.safe_load(block("yaml")))
    assert list(systems(experiment)) == ["baseline", "my-corpus"] and experiment.seeds == (1, 2, 3)


def test_its_operator_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "uppercase.py").write_text(block("python", "OPERATOR"), encoding="utf-8")
    monkeypatch.setattr(augury.augment, "__path__", [*augury.augment.__path__, str(tmp_path)])
    parsed = operator.parse({"operator": "uppercase"})
    assert "uppercase" in operator.names() and [part.name() for part in parsed.parts()] == ["uppercase"]
    block_ = pa.table({"id": ["a", "b"], "source": ["haus ä", "Maus"]})
    made = parsed.bind({}, Store(tmp_path))(block_).table
    assert made.to_pydict() == {"id": ["a", "b"], "text": ["HAUS Ä", "MAUS"]}


def test_its_space_can_be_swept(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(block("python", "QUESTION"), encoding="utf-8")
    found = space.find(str(path))
    listed = points.listed(found)
    assert [parse(merge(found.base, point)).training.validations for point in listed] == [20, 20, 20]


def test_its_commands_can_be_typed() -> None:
    blocks = [text for language, text in re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL) if not language]
    commands = [verb for text in blocks for verb, _ in parsed(text)]
    assert len(set(commands)) > 10


def test_it_names_every_space() -> None:
    for name in space.known():
        assert f"| `{name}` |" in README, name


def test_it_names_every_verb_and_known_corpus() -> None:
    for verb in VERBS:
        assert f"augury {verb}" in README or f"make {verb}" in README, verb
    for name in KNOWN:
        assert name in README, name
    for goal in re.findall(r"make (demo|test|install)", README):
        assert f"\n{goal}:" in (Path(__file__).parents[1] / "Makefile").read_text()
