"""The models that operators work with: named before they exist, trained once, used by the
command line too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from augury.cli import main
from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.corpus import read_shard
from augury.experiments import make, trial
from augury.experiments.graph import Graph
from augury.experiments.spec import parse
from augury.experiments.systems import expand
from tests import tiny

TINY = {
    "architecture": "tiny",
    "vocabulary_size": 80,
    "layers": 1,
    "hidden_size": 16,
    "feedforward_size": 32,
    "attention_heads": 2,
}


PARALLEL = {
    "source_language": "qaa",
    "target_language": "qab",
    "train": {"builtin": 9},
    "valid": {"builtin": 9},
}


@pytest.mark.parametrize(
    ("operator", "message"),
    [
        (
            {"operator": "semantic", "teacher": {"training": {"max_epoch": 3}}},
            "augment.0: its teacher: unknown key 'training.max_epoch': did you mean 'max_epochs'",
        ),
        (
            {"operator": "semantic", "generator": {"model": {"nam": "x"}}},
            "its generator: .*did you mean 'name'",
        ),
        (
            {"operator": "reorder", "parallel": PARALLEL, "training": {"rat": 1}},
            "its reorderer: .*training.rat",
        ),
    ],
)
def test_settings_of_models_are_checked_with_the_experiment(
    operator: dict[str, Any], message: str
) -> None:
    corpus = {"language": "qaa", "train": {"builtin": 20}, "valid": {"builtin": 5}}
    content: dict[str, Any] = {"name": "toy", "task": "nli", "corpus": corpus}
    with pytest.raises(UserError, match=message):
        parse({**content, "augment": [operator]})
    of_a_system = parse({**content, "systems": {"plain": {}, "augmented": {"augment": [operator]}}})
    with pytest.raises(UserError, match=f"system augmented(.|\n)*{message}"):
        expand(of_a_system)


@pytest.mark.trains
@pytest.mark.parametrize("use", ["records", "view"])
def test_a_reorderer_rewrites_the_source_of_translation(use: str, tmp_path: Path) -> None:
    reorder = {
        "operator": "reorder",
        "parallel": PARALLEL,
        "model": TINY,
        "training": {"max_epochs": 1},
        "use": use,
    }
    regime = "plain" if use == "records" else "multi_source"
    augment = [{**reorder, "sampling": {"max_length": 5}}]
    experiment, store = (
        tiny.experiment("nmt", tmp_path, augment=augment, regime=regime),
        Store(tmp_path),
    )
    known = Graph(store).plan(experiment).address
    run = make.prepare(experiment, store)
    assert run.address == known and run.data_factor == 2.0
    (model,) = Graph(store).models(experiment)[0].values()
    assert store.folder("runs", model.name.removeprefix("runs/")).complete
    ((name, folder),) = (run.records | run.views).items()
    (shard,) = run.stored_folder(folder).manifest()["shards"]
    table = read_shard(run.stored_folder(folder), shard)
    texts = table.column("source" if use == "records" else "text").to_pylist()
    corpus = run.corpus("train")
    assert name == "reorder-qab" and len(texts) == 60
    assert all(texts) and texts != corpus.column("source")
    if use == "records":
        assert table.column("target").to_pylist() == corpus.column("target")
    assert trial.train(run)


@pytest.mark.trains
def test_models_are_trained_where_their_operator_is_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = {
        "name": "toy",
        "task": "nli",
        "storage": str(tmp_path),
        "model": TINY,
        "tracking": {"enabled": False},
        "corpus": {"language": "qaa", "train": {"builtin": 20}, "valid": {"builtin": 5}},
        "augment": [
            {"operator": "eda", "copies": 1},
            {
                "operator": "semantic",
                "rectify": "requested",
                "sampling": {"max_length": 5},
                "generator": {"model": TINY, "training": {"max_epochs": 1}},
            },
        ],
        "execution": {"executor": "local", "threads": 1},
    }
    experiment, store = parse(content), Store(tmp_path)
    eda, semantic = Graph(store).models(experiment)
    assert eda == {} and list(semantic) == ["generator"]
    run = store.folder("runs", semantic["generator"].name.removeprefix("runs/"))
    assert not run.exists()

    file = tmp_path / "toy.yaml"
    file.write_text(yaml.safe_dump(content))
    assert main(["augment", str(file), "--json"]) == 0
    parts = json.loads(capsys.readouterr().out)["parts"]
    assert run.complete and run.read_record("run.json")["task"] == "seq2seq"
    assert parts["eda"]["rows"] == 20 and parts["eda"]["made"]
    assert parts["semantic"]["counts"]["generated"] == 80
    stamp = Path(run.path("outcome.json")).stat().st_mtime_ns
    assert make.train_models(experiment, store) == [{}, semantic]
    assert Path(run.path("outcome.json")).stat().st_mtime_ns == stamp
