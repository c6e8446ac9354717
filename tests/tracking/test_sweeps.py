"""The runs of a sweep in MLflow after a sync of its folder."""

from __future__ import annotations

import json
import math
from typing import Any
from urllib.parse import unquote

import pytest
from mlflow import MlflowClient

from augury.core.store import Store
from augury.experiments.recording import Tracking
from augury.tracking.sync import sync
from tests.tracking.conftest import A, B
from tests.tracking.reading import artifacts, curve, logged_runs

CONFIGURATIONS = "tags.augury.sweep = 'beta' and tags.augury.level = 'configuration'"


def states(database: str) -> dict[str, tuple[str, str | None]]:
    return {
        name: (run.info.status, run.data.tags.get("augury.state"))
        for name, run in logged_runs(database).items()
    }


def test_seeds_are_children_of_configurations_and_these_of_the_sweep(
    trials: Any, database: str, store: Store
) -> None:
    store.folder("corpora", "a" * 16).finish({"note": "synthetic text"})
    sync(trials.finish(), Tracking(uri=database))
    runs = logged_runs(database)
    names = {run.info.run_id: name for name, run in runs.items()}
    assert {
        name: names.get(run.data.tags.get("mlflow.parentRunId")) for name, run in runs.items()
    } == {
        "beta": None,
        "baseline": "beta",
        "regime.beta=5": "beta",
        "aa seed 1": "baseline",
        "aa seed 2": "baseline",
        "bb seed 1": "regime.beta=5",
        "bb seed 2": "regime.beta=5",
    }
    assert {run.info.status for run in runs.values()} == {"FINISHED"}
    assert all("synthetic text" in run.data.tags["mlflow.note.content"] for run in runs.values())


def test_swept_keys_are_the_parameters_and_filters_select_configurations(
    trials: Any, database: str
) -> None:
    trials.configuration(
        "cc" * 8, {"regime.beta": 0.5, "augment": [{"keys": [1, 2]}], "training.clip_norm": None}
    )
    trials.trial("cc" * 8, 1, "stopped", 5)
    sync(trials.finish(), Tracking(uri=database))
    stopped = "regime.beta=0.5, augment=[{'keys': [1, 2]}], training.clip_norm=None"
    runs = logged_runs(database, CONFIGURATIONS)
    assert {name: run.data.params for name, run in runs.items()} == {
        "baseline": {},
        "regime.beta=5": {"regime.beta": "5"},
        stopped: {"regime.beta": "0.5", "augment.0.keys": "[1, 2]", "training.clip_norm": "null"},
    }
    assert logged_runs(database)["bb seed 1"].data.params == {"regime.beta": "5"}
    assert set(logged_runs(database, f"{CONFIGURATIONS} and attributes.status = 'FINISHED'")) == {
        "baseline",
        "regime.beta=5",
    }
    assert set(
        logged_runs(database, f"{CONFIGURATIONS} and tags.augury.state = 'interrupted'")
    ) == {stopped}
    assert set(logged_runs(database, f"{CONFIGURATIONS} and metrics.`test/test/bleu` > 24")) == {
        "regime.beta=5"
    }
    tags = runs["regime.beta=5"].data.tags
    assert (tags["augury.question"], tags["augury.metric"], tags["augury.reference"]) == (
        "Which beta helps?",
        "valid/bleu",
        "no",
    )
    assert sorted(entry.dataset.name for entry in runs["regime.beta=5"].inputs.dataset_inputs) == [
        "test",
        "train",
    ]
    assert artifacts(database, runs["regime.beta=5"]) == {"experiment.yaml"}


def test_a_configuration_has_the_means_of_its_seeds(trials: Any, database: str) -> None:
    sync(trials.finish(), Tracking(uri=database))
    configuration = logged_runs(database)["regime.beta=5"]
    metrics = configuration.data.metrics
    pooled = (
        1**2 * 2 + 2**2 * 2
    ) ** 0.5 / 2**0.5  # over both configurations, two degrees of freedom: t = 4.3027
    half = 4.302653 * pooled / 2**0.5
    assert {name: metrics[name] for name in metrics if name.startswith("best")} == {
        "best/valid/bleu": 16.0,
        "best/valid/bleu/seeds": 2.0,
        "best/valid/bleu/sd": pytest.approx(8**0.5),
        "best/valid/bleu/low": pytest.approx(16 - half),
        "best/valid/bleu/high": pytest.approx(16 + half),
    }
    assert (metrics["test/test/bleu"], metrics["test/test/bleu/seeds"]) == (25.0, 2.0)
    assert metrics["test/test/bleu/sd"] == pytest.approx(2**0.5)
    assert metrics["test/test/bleu/low"] < 24.0 < 26.0 < metrics["test/test/bleu/high"]
    assert {name: metrics[name] for name in metrics if name.startswith("cost")} == {
        "cost/parameters": 1200.0,
        "cost/data_factor": 3.0,
        "cost/train_seconds": 20.0,
        "cost/cpu_seconds": 19.0,
        "cost/device_hours": 20 / 3600,
    }
    assert logged_runs(database)["bb seed 2"].data.metrics["best/valid/bleu"] == 18.0
    assert curve(database, configuration, "test/test/bleu") == [(0, 25.0)]


def test_the_sweep_has_its_answer_counts_and_files(trials: Any, database: str) -> None:
    trials.folder.write("index.html", "<p>31")
    folder = trials.finish()
    sync(folder, Tracking(uri=database))
    runs = logged_runs(database)
    sweep, tags = runs["beta"], runs["beta"].data.tags
    assert sweep.info.start_time == 1_700_000_000_000
    assert "regime.beta=5" in tags["augury.answer"]
    assert f"**{tags['augury.answer']}**" in tags["mlflow.note.content"]
    assert (tags["augury.best"], tags["augury.best_configuration"], tags["augury.trials"]) == (
        "regime.beta=5",
        B,
        "4 finished",
    )
    assert CONFIGURATIONS in unquote(tags["mlflow.note.content"])
    counts = {name: sweep.data.metrics[f"trials/{name}"] for name in ("finished", "failed")}
    assert counts == {"finished": 4.0, "failed": 0.0}
    assert sweep.data.metrics["cost/training_hours"] == pytest.approx(4 * 36 / 3600)
    assert sweep.data.metrics["test/test/bleu"] == 25.0  # of the best configuration
    assert tags["augury.systems"] == "regime.beta=5; baseline"
    assert artifacts(database, sweep) == {"index.html", "summary.json", "sweep.json"}
    outputs = {"experiment.yaml", "hypotheses", "run.json", "scores.json"}
    kept = {
        name: artifacts(database, runs[name]) for name in ("aa seed 1", "bb seed 1", "bb seed 2")
    }
    assert kept == {"aa seed 1": set(), "bb seed 1": outputs, "bb seed 2": outputs}, (
        "only of the best configuration"
    )


def test_a_shared_view_shows_the_scores_of_configurations(trials: Any, database: str) -> None:
    """MLflow's UI hides metrics by default: the note of the sweep links to a table with them."""
    sync(trials.finish(), Tracking(uri=database))
    runs = logged_runs(database)
    assert "viewStateShareKey=sweep-beta" in runs["beta"].data.tags["mlflow.note.content"]
    link = trials.folder.read("mlflow-view.txt").decode()
    assert link in runs["beta"].data.tags["mlflow.note.content"]
    experiment = MlflowClient(database).get_experiment(runs["beta"].info.experiment_id)
    view = json.loads(experiment.tags["mlflow.sharedViewState.sweep-beta"])
    assert view["searchFilter"] == CONFIGURATIONS
    metrics = [
        name[len("metrics.`") : -1]
        for name in view["selectedColumns"]
        if name.startswith("metrics.`")
    ]
    assert "best/valid/bleu" in metrics and any(name.startswith("test/") for name in metrics)
    assert set(metrics) <= set(runs["baseline"].data.metrics)


def test_a_sweep_that_is_up_to_date_is_not_changed(trials: Any, database: str) -> None:
    trials.configuration("cc" * 8, {"regime.beta": 9})
    trials.trial("cc" * 8, 1, "stopped", 5)
    folder = trials.finish()
    assert sync(folder, Tracking(uri=database)) == 9
    before = {name: run.to_dictionary() for name, run in logged_runs(database).items()}
    assert sync(folder, Tracking(uri=database)) == 0
    assert {name: run.to_dictionary() for name, run in logged_runs(database).items()} == before


def test_a_continued_sweep_continues_its_runs(trials: Any, database: str) -> None:
    trials.trial(A, 1, "running", 10)
    sync(trials.write(), Tracking(uri=database))
    assert states(database) == {
        "beta": ("RUNNING", None),
        "baseline": ("RUNNING", "running"),
        "aa seed 1": ("RUNNING", "running"),
    }
    ids = {name: run.info.run_id for name, run in logged_runs(database).items()}
    sync(trials.finish(), Tracking(uri=database))
    runs = logged_runs(database)
    assert {name: runs[name].info.run_id for name in ids} == ids
    assert {run.info.status for run in runs.values()} == {"FINISHED"}
    assert curve(database, runs["aa seed 1"], "valid/bleu") == [(50, 5.0), (100, 10.0)]


def test_the_list_marks_what_is_recommended(trials: Any, database: str) -> None:
    sync(trials.finish(), Tracking(uri=database))
    runs = logged_runs(database, CONFIGURATIONS)
    assert {run.info.run_name for run in runs.values()} == {
        "baseline",
        "regime.beta=5 (recommended)",
    }


def test_what_a_changed_sweep_no_longer_has_leaves_its_list(trials: Any, database: str) -> None:
    trials.configuration("cc" * 8, {"regime.beta": 0.5})
    trials.trial("cc" * 8, 1, "finished", 5, 5)
    sync(trials.finish(), Tracking(uri=database))
    assert len(logged_runs(database, CONFIGURATIONS)) == 3
    trials.definition["configurations"].pop()
    sync(trials.write(), Tracking(uri=database))
    assert set(logged_runs(database, CONFIGURATIONS)) == {"baseline", "regime.beta=5"}


def test_more_and_fewer_seeds_change_the_means(trials: Any, database: str) -> None:
    tracking = Tracking(uri=database)
    sync(trials.finish(), tracking)
    trials.definition["seeds"] = [1, 2, 3]
    trials.trial(B, 3, "running")
    sync(trials.write(ended=False), tracking)
    configuration = logged_runs(database)["regime.beta=5"]
    assert (configuration.info.status, configuration.data.metrics["test/test/bleu/seeds"]) == (
        "RUNNING",
        2.0,
    )
    trials.trial(B, 3, "finished", 16, 31)
    sync(trials.write(ended=True), tracking)
    configuration = logged_runs(database)["regime.beta=5"]
    assert configuration.info.status == "FINISHED"
    assert curve(database, configuration, "test/test/bleu") == [(0, 25.0), (0, 27.0)]
    assert set(json.loads(configuration.data.tags["augury.seeds"])) == {"1", "2", "3"}
    trials.definition["seeds"] = [1]
    sync(trials.write(), tracking)
    data = logged_runs(database)["regime.beta=5"].data
    assert (data.metrics["test/test/bleu"], data.metrics["test/test/bleu/seeds"]) == (24.0, 1.0)
    assert math.isnan(data.metrics["test/test/bleu/sd"])
    assert list(json.loads(data.tags["augury.seeds"])) == ["1"]


def test_two_sweeps_share_a_run(trials: Any, database: str, store: Store) -> None:
    sync(trials.finish(), Tracking(uri=database))
    other = type(trials)(store, "wide")
    other.configuration(B, {"regime.beta": 5})
    sync(other.write(ended=True), Tracking(uri=database))
    first, second = (
        logged_runs(database, f"tags.augury.sweep = '{name}'") for name in ("beta", "wide")
    )
    assert len(first) == 7
    assert set(second) == {"wide", "regime.beta=5"}
    seeds = {"1": first["bb seed 1"].info.run_id, "2": first["bb seed 2"].info.run_id}
    assert json.loads(second["regime.beta=5"].data.tags["augury.seeds"]) == seeds
    assert second["regime.beta=5"].data.metrics["test/test/bleu"] == 25.0
    assert (
        f"runs/{seeds['2']}) finished" in second["regime.beta=5"].data.tags["mlflow.note.content"]
    )
    assert first["bb seed 1"].data.tags["mlflow.parentRunId"] == first["regime.beta=5"].info.run_id


def test_a_later_sweep_continues_a_stopped_run(trials: Any, database: str, store: Store) -> None:
    run = trials.trial(B, 1, "stopped", 5)
    sync(trials.write(ended=True), Tracking(uri=database))
    stopped = logged_runs(database)["bb seed 1"]
    assert (stopped.info.status, stopped.data.tags["augury.state"]) == (
        "SCHEDULED",
        "interrupted",
    )
    other = type(trials)(store, "wide")
    other.configuration(B, {"regime.beta": 5})
    other.report(B, 1, "running")
    sync(other.write(), Tracking(uri=database))
    seed = f"tags.augury.folder = '{run.folder.name}'"
    running = logged_runs(database, seed)["bb seed 1"]
    assert (running.info.status, running.data.tags["augury.state"]) == ("RUNNING", "running")
    other.trial(B, 1, "finished", 14, 24)
    sync(other.write(ended=True), Tracking(uri=database))
    finished = logged_runs(database, seed)["bb seed 1"]
    assert (finished.info.run_id, finished.info.status) == (stopped.info.run_id, "FINISHED")


def test_a_run_of_train_keeps_its_parent(trials: Any, database: str) -> None:
    run = trials.trial(A, 1, "finished", 10, 20)
    run.folder.write_record("record.json", {"status": "FINISHED", "since": 2e9})
    sync(run.folder, Tracking(uri=database))
    before = logged_runs(database)["aa seed 1"]
    sync(trials.write(ended=True), Tracking(uri=database))
    runs = logged_runs(database)
    assert set(runs) == {"ciphers", "aa seed 1", "beta", "baseline"}
    assert runs["aa seed 1"].to_dictionary() == before.to_dictionary()
    assert json.loads(runs["baseline"].data.tags["augury.seeds"]) == {"1": before.info.run_id}
    assert runs["baseline"].data.metrics["test/test/bleu"] == 20.0


def test_the_status_of_trials(trials: Any, database: str) -> None:
    for index, progress in enumerate(("failed", "stopped", "running")):
        trials.configuration(f"{index}" * 16, {"regime.beta": index})
        trials.trial(f"{index}" * 16, 1, progress, 5).describe(
            name=progress, address=f"{index}" * 16, seed=1
        )
    trials.report("0" * 16, 1, "failed", "loss is NaN")
    sync(trials.write(), Tracking(uri=database))
    failed, runs = ("FAILED", "failed: loss is NaN"), ("RUNNING", "running")
    assert states(database) == {
        "beta": ("RUNNING", None),
        "failed seed 1": failed,
        "stopped seed 1": runs,
        "running seed 1": runs,
        "regime.beta=0": runs,
        "regime.beta=1": runs,
        "regime.beta=2": runs,
    }
    assert (
        "failed, loss is NaN"
        in logged_runs(database)["regime.beta=0"].data.tags["mlflow.note.content"]
    )
    trials.state["time"] -= 1000.0  # its driver was killed
    trials.report("2" * 16, 1, "waiting")
    sync(trials.write(), Tracking(uri=database))
    interrupted = ("SCHEDULED", "interrupted")
    assert states(database) == {
        "beta": ("KILLED", None),
        "failed seed 1": failed,
        "stopped seed 1": interrupted,
        "running seed 1": interrupted,
        **{f"regime.beta={index}": interrupted for index in (0, 1, 2)},
    }


def test_new_scores_are_sent(trials: Any, database: str) -> None:
    sync(trials.finish(), Tracking(uri=database))
    trials.trial(B, 1, "finished", test=28)
    sync(trials.folder, Tracking(uri=database))
    runs = logged_runs(database)
    assert runs["bb seed 1"].data.metrics["test/test/bleu"] == 28.0
    assert runs["regime.beta=5"].data.metrics["test/test/bleu"] == 27.0
