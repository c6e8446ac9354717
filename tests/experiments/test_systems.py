"""The systems of an experiment: what they read, and where
their files lie."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from augury.core.errors import UserError
from augury.experiments.systems import expand, load
from tests import tiny

OWN_OPERATOR = """
from augury.augment.operator import Operator

class Upper(Operator):
    operator: str = "upper"

    def bind(self, fitted, store):
        return lambda block: block

OPERATOR = Upper
"""


def test_relative_paths_begin_at_the_folder_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Corpora, models, plug-ins and what a base says, in sections, systems and stages; what is set
    begins at the working directory."""
    monkeypatch.chdir(tmp_path)
    place = "deep/er/mine.yaml"
    folder = (tmp_path / place).parent
    (folder / "base").mkdir(parents=True)
    (folder / "base" / "own.py").write_text(OWN_OPERATOR)
    train = {"source": "a.de", "target": ["../b.en", "/c.en"]}
    corpus = {**tiny.PARALLEL, "train": train, "valid": {"source": "v.de", "target": "v.en"}}
    stages = {"tune": {"corpus.train": {"source": "t.de", "target": "t.en"}}}
    content = tiny.content("nmt", tmp_path / "results", corpus=corpus, stages=stages)
    (folder / "base" / "base.yaml").write_text(yaml.safe_dump(content))
    augment = [{"operator": "./base/own.py"}]
    systems = {"x": {"augment": augment, "corpus.train.source": "x.de", "regime": "multi_source"}}
    mine = {"extends": "base/base.yaml", "systems": systems}
    (tmp_path / place).write_text(yaml.safe_dump(mine))
    loaded = load(place, {"corpus.valid.source": "set.de"})
    assert loaded.corpus.valid.source == str(tmp_path / "set.de")
    (system,) = expand(loaded).values()
    first = system.first.corpus.train
    assert first.source == str(folder / "x.de")
    assert first.target == (str(folder / "b.en"), "/c.en")
    assert system.corpus.train.source == str(folder / "base" / "t.de")
    own = str(folder / "base" / "own.py")
    (operator,) = system.augment
    assert operator.to_dict()["file"].startswith(f"{own}@")


def test_an_experiment_may_be_json_and_a_table_names_init(tmp_path: Path) -> None:
    file, table = tmp_path / "mine.json", tmp_path / "posts.csv"
    file.write_text(json.dumps(tiny.content("nmt", tmp_path / "results")))
    assert load(file).task == "nmt"
    table.write_text('text,label\n"a: b",good\n')
    with pytest.raises(UserError, match=f"augury init my.yaml --train {table}"):
        load(table)
