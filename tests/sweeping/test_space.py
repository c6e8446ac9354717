"""Search spaces: those that ship, the definitions of a Python or YAML file, and the errors about
them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from augury.core.config import merge
from augury.core.errors import UserError
from augury.experiments import spec
from augury.sweeping import declarations, space

MINIMAL = """
from augury.sweeping.declarations import SearchSpace

SPACE = SearchSpace(
    question="Does it help?",
    base={"name": "x", "task": "nmt"},
    keys={"regime.beta": [0, 5]},
    metric="valid/bleu",
    seeds=(1, 2),
)
"""
ROWS = MINIMAL.replace(
    'keys={"regime.beta": [0, 5]}', 'rows={"plain": {}, "strong": {"regime.beta": 5}}'
)
YAML = """question: Does it help?
base: {name: x, task: nmt}
keys:
  regime.beta: [0, 5]
metric: valid/bleu
seeds: [1, 2]
"""


def with_fields(fields: str, text: str = MINIMAL) -> str:
    """Return the file of a space with additional fields."""
    return text.replace("\n)\n", f"\n    {fields}\n)\n")


def write(folder: Path, text: str, name: str = "mine.py") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


@pytest.mark.parametrize("name", declarations.SPACES.names())
def test_every_shipped_space_is_a_valid_experiment_at_every_scale(
    name: str, tmp_path: Path
) -> None:
    for scale in ("toy", "small", "paper"):
        loaded = space.find(name, scale)
        assert loaded.question.endswith("?")
        for point in [*space.points(loaded), *loaded.rows.values()]:
            assert spec.parse(merge(loaded.base, point) | {"storage": str(tmp_path)})


def test_scales_differ_by_dotted_keys_and_rows(tmp_path: Path) -> None:
    scales = "scales={'toy': {'training.max_updates': 9}, 'big': {}}"
    rows = ROWS.replace("rows={", "rows=lambda scale: {scale: {}, ")
    path = write(tmp_path, with_fields(scales, rows))
    assert space.find(path).base["training"] == {"max_updates": 9}
    assert "training" not in space.find(path, "big").base
    found = space.find(path, "big")
    assert list(found.rows) == ["big", "plain", "strong"]
    assert (found.reference, space.points(found)) == ("big", [])
    with pytest.raises(UserError, match="unknown scale .* 'huge': allowed: big, toy"):
        space.find(path, "huge")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seeds", "sedes", r"mine\.py' is not valid:\n(.|\n)*'seeds' is required"),
        ("[0, 5]", "5", "regime.beta: give a list of values, not 5"),
        ("regime.beta", "decoding.beam", "key decoding.beam does not affect training: leave it"),
    ],
)
def test_errors_about_a_file(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in MINIMAL
    with pytest.raises(UserError, match=message):
        space.find(write(tmp_path, MINIMAL.replace(old, new)))


def test_a_space_in_yaml_is_what_the_same_space_in_python_is(tmp_path: Path) -> None:
    of_yaml = space.find(write(tmp_path, YAML, "mine.yaml"))
    of_python = space.find(write(tmp_path, MINIMAL))
    assert replace(of_yaml, declared=of_python.declared) == of_python
    assert (of_yaml.name, of_yaml.scale, of_yaml.scheduler) == ("mine", "default", "all")
    assert space.points(of_yaml) == [{"regime.beta": 0}, {"regime.beta": 5}]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("question:", "querstion:", "line 1: unknown key 'querstion': did you mean 'question'"),
        ("[0, 5]", "{loguniform: [1, 2]}", "regime.beta: give a list of values, not {"),
    ],
)
def test_faults_have_their_lines(tmp_path: Path, before: str, after: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        space.find(write(tmp_path, YAML.replace(before, after), "mine.yaml"))
