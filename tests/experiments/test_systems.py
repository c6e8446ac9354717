"""The systems of an experiment: their budgets where these are equal, what they read, and where
their files lie."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments.graph import Graph
from augury.experiments.spec import Experiment, parse
from augury.experiments.systems import canonical, expand, load, missing_inputs
from augury.reporting.papers import table as published
from augury.sweeping import plan
from augury.sweeping.driver import run_experiment
from augury.training.trained import Outcome
from tests import tiny

SYSTEMS: dict[str, Any] = {
    "baseline": {},
    "twice": {"augment": [{"operator": "eda", "copies": 1}]},
}


def equal(storage: Path, unit: str, training: dict[str, Any], **changes: Any) -> Experiment:
    """Systems whose budgets are equal in a unit."""
    settings = {"max_tokens": 400, "patience": 99, **training}
    described = {"systems": SYSTEMS, **changes}
    return parse(tiny.content("nli", storage, equal=unit, training=settings, **described))


def test_the_budget_of_every_system_is_the_baselines(tmp_path: Path) -> None:
    longer = {"baseline": {}, "longer": {"training.max_updates": 70, "training.patience": 9}}
    both = equal(tmp_path, "updates", {"max_updates": 7}, systems=longer)
    assert [system.training.max_updates for system in expand(both).values()] == [7, 7]
    timed = {"max_minutes": 1.5, "schedule": "constant", "warmup_share": None}
    for system in expand(equal(tmp_path, "time", timed)).values():
        training = system.training
        limits = (training.max_minutes, training.max_epochs, training.max_updates)
        assert limits == (1.5, None, None)
    counted = expand(equal(tmp_path, "tokens", {"max_epochs": 3}))
    assert counted["twice"].to_dict()["training"]["equal"] == "tokens"


def test_the_unit_is_part_of_addresses_where_it_acts(tmp_path: Path) -> None:
    store = Store(tmp_path)
    addresses: dict[str, set[str]] = {"baseline": set(), "twice": set()}
    for unit in ("epochs", "updates", "tokens"):
        for name, system in expand(equal(tmp_path, unit, {"max_epochs": 3})).items():
            form = canonical(system, store).experiment
            addresses[name].add(Graph(store).plan(form).address)
    assert len(addresses["baseline"]) == 1
    assert len(addresses["twice"]) == 3


@pytest.mark.parametrize(
    ("unit", "changes", "message"),
    [
        ("time", {}, "set training.max_minutes"),
        ("updates", {"systems": {"a": SYSTEMS["twice"], "b": {}}}, "the baseline has records"),
        ("updates", {"systems": {"a": {}, "b": {"training.max_tokens": 900}}}, "max_tokens of b"),
    ],
)
def test_what_cannot_be_derived_is_refused(
    tmp_path: Path, unit: str, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        expand(equal(tmp_path, unit, {"max_epochs": 3}, **changes))


@pytest.mark.trains
def test_systems_with_records_train_as_much(tmp_path: Path) -> None:
    runs, failures, _ = run_experiment(equal(tmp_path, "tokens", {"max_epochs": 2}))
    assert not failures
    plain, twice = (Outcome.read(of_seed[1]) for of_seed in runs.values())
    assert twice.rows / plain.rows == pytest.approx(1.0, abs=0.1) and twice.epochs < 1.5


OWN_OPERATOR = """
from augury.augment.operator import Operator

class Upper(Operator):
    operator: str = "upper"

    def bind(self, fitted, store):
        return lambda block: block

OPERATOR = Upper
"""
OWN_METRIC = """
from augury.scoring.labels import METRICS as LABELS

class Own(LABELS["accuracy"]):
    measures = "text"
    options = ("x",)

METRICS = {"own": Own}
"""


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of data where nothing lies yet."""
    monkeypatch.setenv("AUGURY_DATA", str(tmp_path))
    return tmp_path


def test_everything_that_is_read_and_is_not_there_is_named(empty: Path) -> None:
    """Texts, known sets and files, of stages, operators and their models too."""

    def pair(name: str) -> dict[str, str]:
        return {"source": f"{empty}/{name}.de", "target": f"{empty}/{name}.en"}

    back_translation = {
        "operator": "back_translation",
        "monolingual": {"language": "en", "train": {"lines": f"{empty}/mono"}},
        "system": {"corpus.train": pair("other")},
    }
    corpus = {"known": "multi30k", "source_language": "de", "target_language": "en"}
    content = {
        "name": "x",
        "task": "nmt",
        "corpus": {**corpus, "train": pair("clean")},
        "augment": [{"operator": "eda", "synonyms": f"{empty}/words.tsv"}],
        "stages": {"tune": {"corpus.train": pair("noisy"), "augment": [back_translation]}},
    }
    files = {f"{text}.{code}" for text in ("clean", "noisy", "other") for code in ("de", "en")}
    files |= {"mono", "words.tsv"}
    missing = missing_inputs([parse(content)] * 2)
    assert {Path(name).name for name in missing} == {*files, "multi30k"}
    for name in files:
        (empty / name).write_text("a\n")
    assert list(missing_inputs([parse(content)])) == ["multi30k"]


def test_a_table_names_all_that_its_rows_lack_once(empty: Path) -> None:
    space = published.find("xnli_adversarial/table2", "paper").space
    with pytest.raises(UserError) as error:
        plan.make(space, Store(str(empty / "store")), {}, [])
    for name in ("xnli", "xnli_mt", "multi_nli", "wmt14"):
        assert str(error.value).count(f" {name} (") == 1


@pytest.mark.parametrize("place", ["mine.yaml", "deep/er/mine.yaml"])
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
