"""Everything that experiments read and is not there is named at once, and once."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import pytest
import yaml

from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments.graph import Graph
from augury.experiments.spec import parse
from augury.experiments.systems import expand, load, missing_inputs
from augury.sweeping import plan, published
from tests import tiny

OWN_OPERATOR = """
from augury.augment.operator import Operator

class Upper(Operator):
    operator: str = "upper"

    def bind(self, fitted, store):
        return lambda block: block

OPERATOR = Upper
"""
OWN_METRIC = """
from augury.scoring.accuracy import METRICS as LABELS

class Own(LABELS["accuracy"]):
    measures = "text"
    options = ("x",)

METRICS = {"own": Own}
"""


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AUGURY_DATA", str(tmp_path))
    return tmp_path


def test_texts_sets_and_files_of_stages_operators_and_models_are_found(empty: Path) -> None:
    def pair(name: str) -> dict[str, str]:
        return {"source": f"{empty}/{name}.de", "target": f"{empty}/{name}.en"}

    content = {
        "name": "x",
        "task": "nmt",
        "corpus": {
            "known": "multi30k",
            "source_language": "de",
            "target_language": "en",
            "train": pair("clean"),
        },
        "augment": [{"operator": "eda", "synonyms": f"{empty}/words.tsv"}],
        "stages": {
            "tune": {
                "corpus.train": pair("noisy"),
                "augment": [
                    {
                        "operator": "back_translation",
                        "monolingual": {"language": "en", "train": {"lines": f"{empty}/mono"}},
                        "system": {"corpus.train": pair("other")},
                    }
                ],
            }
        },
    }
    missing = missing_inputs([parse(content)] * 2)
    names = {
        "clean.de",
        "clean.en",
        "noisy.de",
        "noisy.en",
        "other.de",
        "other.en",
        "mono",
        "words.tsv",
        "multi30k",
    }
    assert {Path(name).name for name in missing} == names
    for name in names - {"multi30k"}:
        (empty / name).write_text("a\n")
    assert list(missing_inputs([parse(content)])) == ["multi30k"]


def test_a_table_names_all_that_its_rows_lack(empty: Path) -> None:
    space = published.find("xnli_adversarial/table2", "paper").space
    with pytest.raises(UserError) as error:
        plan.make(space, Store(str(empty / "store")), {}, [])
    text = str(error.value)
    assert [text.count(f" {name} (") for name in ("xnli", "xnli_mt", "multi_nli", "wmt14")] == [
        1,
        1,
        1,
        1,
    ]


def test_what_is_there_is_not_missing(empty: Path) -> None:
    corpus = {"language": "qaa", "train": {"builtin": 9}, "valid": {"builtin": 5}}
    assert not missing_inputs([parse({"name": "x", "task": "nli", "corpus": corpus})])


@pytest.mark.parametrize("place", ["mine.yaml", "experiments/mine.yaml", "deep/er/mine.yaml"])
def test_relative_paths_begin_at_the_folder_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Corpora, models, plug-ins and what a base says, in sections, systems and stages; what is set
    begins at the working directory."""
    monkeypatch.chdir(tmp_path)
    folder = (tmp_path / place).parent
    (folder / "base").mkdir(parents=True)
    (folder / "base" / "own.py").write_text(OWN_OPERATOR + OWN_METRIC)
    content = deepcopy(tiny.content("nmt", tmp_path / "results"))
    content["corpus"]["train"] = {"source": "a.de", "target": ["../b.en", "/c.en"]}
    content["corpus"]["valid"] = {"source": "v.de", "target": "v.en"}
    content["stages"] = {"tune": {"corpus.train": {"source": "t.de", "target": "t.en"}}}
    content["scoring"] = {"metrics": ["bleu", "./own.py:x"]}
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
    assert system.scoring.metrics[1].startswith(f"{own}@")
    (operator,) = system.augment
    assert operator.to_dict()["file"].startswith(f"{own}@")


def test_where_a_file_lies_changes_no_address(tmp_path: Path) -> None:
    """Its texts enter by their content."""
    texts = {"train.de": "a b c\n" * 9, "train.en": "c b a\n" * 9}
    addresses = set()
    for folder in (tmp_path / "one", tmp_path / "two" / "three"):
        folder.mkdir(parents=True)
        for name, text in texts.items():
            (folder / name).write_text(text)
        content = deepcopy(tiny.content("nmt", tmp_path / "results"))
        content["corpus"]["train"] = {"source": "train.de", "target": "train.en"}
        (folder / "mine.yaml").write_text(yaml.safe_dump(content))
        (system, *_) = expand(load(folder / "mine.yaml")).values()
        addresses.add(Graph(Store(tmp_path / "results")).plan(system).address)
    assert len(addresses) == 1
