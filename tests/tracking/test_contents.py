from __future__ import annotations

from typing import Any

import pytest
from mlflow import MlflowClient

from augury.core.store import Store
from augury.experiments.tracking import Tracking
from augury.reporting import results
from augury.reporting.sweeps.summary import ranking
from augury.tracking import contents
from augury.tracking.tracker import send_pending
from tests.tracking.reading import search, values

A, B = "aa" * 8, "bb" * 8


def test_scores_are_the_means_of_the_seeds(trials: Any) -> None:
    folders = [trials.trial(B, seed, "finished", test=value).folder for seed, value in [(1, 24), (2, 27), (3, 30)]]
    found = contents.scored(folders)
    assert (found["test/test/bleu"], found["test/test/bleu/sd"], found["test/test/bleu/seeds"]) == (27.0, 3.0, 3)
    assert (found["signature/bleu"], found["augury.device"]) == ("tok:13a", "cpu")
    assert (found["cost/train_seconds"], found["cost/data_factor"]) == (20.0, 3.0)
    alone = contents.scored(folders[:1])
    shown = results.load(folders[:1])[0].tests["test"]["bleu"]
    assert (alone["test/test/bleu/low"], alone["test/test/bleu/high"]) == (shown.low, shown.high)
    assert "test/test/bleu/sd" not in alone


@pytest.mark.parametrize(
    ("progress", "interrupted", "expected"),
    [
        ("finished", True, ("FINISHED", "finished")),
        ("failed", False, ("FAILED", "failed")),
        ("stopped", False, ("KILLED", "stopped at rung 3")),
        ("paused", False, ("RUNNING", "running")),
        ("running", True, ("KILLED", "interrupted")),
    ],
)
def test_how_a_seed_ends(trials: Any, progress: str, interrupted: bool, expected: tuple[str, str]) -> None:
    trials.trial(B, 1, progress, 5)
    trials.stop(B, rung=2)
    trials.stop(B, rung=3)
    sweep = trials.load()
    trial = sweep.by_address[B].trials[0]
    assert contents.ending(sweep, B, trial, interrupted) == expected


def test_the_best_validation_follows_the_mode(trials: Any) -> None:
    trials.trial(B, 1, "running", 8)
    trial = trials.load().by_address[B].trials[0]
    assert contents.reached(trials.load(), trial) == {"best/valid/bleu": 8.0}
    trials.asked["mode"] = "min"
    assert contents.reached(trials.load(), trial) == {"best/valid/bleu": 4.0}


def test_a_sweep_names_the_filter_that_compares(trials: Any, store: Store) -> None:
    trials.trial(B, 1, "running", 8)
    sweep = trials.load()
    content = contents.of_sweep(sweep, ranking(sweep), None, ["synthetic text"], "#/experiments/1/runs")
    note = content.tags["mlflow.note.content"]
    charts = (
        "#/experiments/1/runs?searchFilter=tags.augury.sweep%20%3D%20%27beta%27%20and%20tags.augury.level%20%3D%20"
        "%27configuration%27&compareRunsMode=CHART&orderByKey=metrics.%60best%2Fvalid%2Fbleu%60&orderByAsc=false"
    )
    assert note.split("\n\n") == [
        "Which beta helps?",
        "synthetic text",
        f"[Compare its configurations]({charts}), or filter runs by "
        "`tags.augury.sweep = 'beta' and tags.augury.level = 'configuration'`.",
        f"Its files: {store.root}/sweeps/beta",
    ]
    assert content.tags["augury.trials"] == "3 waiting, 1 running"
    assert "augury.answer" not in content.tags
    assert content.parameters == {}


def test_swept_values_are_flat_numeric_parameters(trials: Any, database: str, store: Store) -> None:
    point = {"regime.beta": 0.5, "augment": [{"operator": "cipher", "keys": [1, 2]}], "training.clip_norm": None}
    trials.configuration("cc" * 8, point)
    trials.trial("cc" * 8, 1, "running").describe(
        name="cc", address="cc" * 8, seed=1, parameters={"regime.beta": 0.5, "augment.0.operator": "cipher", "x": 1}
    )
    trials.load()
    send_pending(store, Tracking(uri=database))
    found = search(database)
    (name,) = set(found) - {"beta", "cc seed 1"}
    assert found[name].data.params == {
        "regime.beta": "0.5",
        "augment.0.operator": "cipher",
        "augment.0.keys": "[1, 2]",
        "training.clip_norm": "null",
    }
    assert found["cc seed 1"].data.params == {"regime.beta": "0.5", "augment.0.operator": "cipher"}
    tags = found[name].data.tags
    assert (tags["augury.question"], tags["augury.metric"], tags["augury.scale"], tags["augury.reference"]) == (
        "Which beta helps?",
        "valid/bleu",
        "toy",
        "no",
    )
    inputs = [given.dataset.name for given in found[name].inputs.dataset_inputs]
    assert sorted(inputs) == ["test", "train"]
    files = MlflowClient(database).list_artifacts(found[name].info.run_id)
    assert [entry.path for entry in files] == ["experiment.yaml"]


def test_values_that_change_while_running_are_metrics(trials: Any, database: str, store: Store) -> None:
    trials.asked["scheduler"] = "pbt"
    trials.asked["configurations"] = []
    trials.configuration(B, {"regime.beta": 5, "training.schedule": "cosine"})
    run = trials.trial(B, 1, "running", 5)
    run.describe(name="bb", address=B, seed=1, parameters={"regime.beta": 5, "training.schedule": "cosine"})
    trials.load()
    send_pending(store, Tracking(uri=database))
    trials.asked["configurations"][0]["point"] = {"regime.beta": 8, "training.schedule": "linear"}
    run.describe(name="bb", address=B, seed=1, parameters={"regime.beta": 8, "training.schedule": "linear"})
    trials.load()
    send_pending(store, Tracking(uri=database))
    found = search(database)
    (name,) = set(found) - {"beta", "bb seed 1"}
    assert (found[name].data.params, found["bb seed 1"].data.params) == ({}, {})
    assert values(database, found[name], "regime.beta") == [5.0, 8.0]
    assert found[name].data.metrics["regime.beta"] == 8.0
    assert found[name].data.tags["augury.training.schedule"] == '"linear"'
