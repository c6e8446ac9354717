"""The contents of a run in MLflow after a sync of its folder."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient

from augury.core.store import Folder, Store
from augury.experiments.recording import Tracking
from augury.tracking.location import identity
from augury.tracking.sync import sync
from tests.tracking.reading import artifacts, curve, logged_runs

NAME = "cipherdaug seed 3"


def record(run: Any, status: str, since: float = 1_700_000_100.0, **entries: Any) -> None:
    run.folder.write_record("record.json", {"status": status, "since": since, **entries})


def test_a_run_is_described_under_its_experiment(run: Any, database: str, store: Store) -> None:
    for address in ("a" * 16, "b" * 16):
        store.folder("corpora", address).finish({"note": "synthetic text"})
    record(run, "RUNNING", source="augury train words.yaml", user="ada")
    sync(run.folder, Tracking(uri=database))
    runs = logged_runs(database)
    assert set(runs) == {NAME, "ciphers"}
    assert runs[NAME].info.status == "RUNNING"
    assert runs[NAME].data.params == {
        "regime.beta": "5",
        "augment.0.keys": "[1, 2]",
        "training.precision": "fp32",
    }
    expected = {
        "augury.folder": "runs/00aa11bb22cc33dd/seed-3",
        "augury.storage": identity(store),
        "augury.name": "cipherdaug",
        "augury.experiment": "ciphers",
        "augury.address": "00aa11bb22cc33dd",
        "augury.seed": "3",
        "augury.task": "nmt",
        "version.augury": "0.1.0",
        "mlflow.source.git.commit": "c0ffee",
        "mlflow.source.name": "augury train words.yaml",
        "mlflow.user": "ada",
        "mlflow.note.content": "synthetic text",
        "mlflow.parentRunId": runs["ciphers"].info.run_id,
    }
    assert {key: runs[NAME].data.tags.get(key) for key in expected} == expected
    inputs = [
        (
            entry.dataset.name,
            entry.dataset.digest,
            json.loads(entry.dataset.profile),
            entry.tags[0].value,
        )
        for entry in runs[NAME].inputs.dataset_inputs
    ]
    assert sorted(inputs) == [
        ("test", "b" * 16, {"rows": 9}, "test"),
        ("train", "a" * 16, {"rows": 2900}, "train"),
    ]


def test_the_note_of_an_experiment_links_to_the_charts_of_its_runs(run: Any, database: str) -> None:
    sync(Folder(run.folder.root, "experiments/ciphers"), Tracking(uri=database))
    experiment = logged_runs(database)["ciphers"]
    assert (
        f"(#/experiments/{experiment.info.experiment_id}/runs?"
        in experiment.data.tags["mlflow.note.content"]
    )


def test_an_experiment_has_the_systems_and_scores_of_its_report(
    run: Any, database: str, store: Store
) -> None:
    tracking, folder = Tracking(uri=database), store.folder("experiments", "ciphers")
    sync(folder, tracking)
    report = {
        "title": "ciphers",
        "answer": "CipherDAug scores more.",
        "systems": {"baseline": ["runs/a/seed-1"], "CipherDAug": [run.folder.name]},
        "scores": {"CipherDAug": {"test": {"bleu": 31.5}}, "baseline": {"test": {"bleu": 30.0}}},
    }
    store.folder("reports", "ciphers").write_record("report.json", report)
    assert sync(folder, tracking) == 1
    data = logged_runs(database)["ciphers"].data
    assert data.tags["augury.systems"] == "baseline, CipherDAug"
    assert data.tags["augury.answer"] == "CipherDAug scores more."
    assert data.metrics == {"test/test/bleu/baseline": 30.0, "test/test/bleu/CipherDAug": 31.5}
    assert sync(folder, tracking) == 0
    experiment = MlflowClient(database).get_experiment_by_name(tracking.experiment)
    view = json.loads(experiment.tags["mlflow.sharedViewState.experiment-ciphers"])
    assert "metrics.`test/test/bleu`" in view["selectedColumns"]


def test_every_point_of_a_growing_curve_is_sent_once(run: Any, database: str) -> None:
    """Also after restarts that rewrite a file with more records or repeat updates."""
    tracking = Tracking(uri=database)
    run.history(50, 100)
    sync(run.folder, tracking)
    assert curve(database, logged_runs(database)[NAME]) == [(50, 20.0), (100, 10.0)]
    run.history(50, 250)
    run.history(300, 350)
    sync(run.folder, tracking)
    run.folder.sub("history").remove("00000300.jsonl")
    run.history(300, 450, delay=60.0)
    sync(run.folder, tracking)
    sync(run.folder, tracking)
    steps = [step for step, _ in curve(database, logged_runs(database)[NAME])]
    assert steps == [50, 100, 150, 200, 250, 300, 350, 400, 450]
    point = MlflowClient(database).get_metric_history(
        logged_runs(database)[NAME].info.run_id, "train/loss"
    )[0]
    assert point.timestamp == 1_700_000_005_000


def test_rare_metrics_are_sent_after_later_points_of_frequent_ones(run: Any, database: str) -> None:
    line = {"epochs": 0.0, "time": 1.7e9}
    run.raw("00000050", {"update": 50, "metrics": {"train/loss": 3.0}, **line})
    sync(run.folder, Tracking(uri=database))
    run.raw("00000050~", {"update": 50, "metrics": {"valid/bleu": 9.0}, **line})
    sync(run.folder, Tracking(uri=database))
    assert curve(database, logged_runs(database)[NAME], "valid/bleu") == [(50, 9.0)]


def test_a_finished_run_has_scores_as_bars_cost_and_files(
    run: Any, database: str, store: Store
) -> None:
    run.history(50, 200)
    run.scores()
    store.folder("vocabularies", "77").write("pieces.vocab", "a\n")
    file = {
        "folder": "vocabularies/77",
        "name": "pieces.vocab",
        "directory": "vocabulary",
    }
    record(run, "FINISHED", since=2e9, files=[file])
    sync(run.folder, Tracking(uri=database))
    finished = logged_runs(database)[NAME]
    assert (finished.info.status, finished.info.end_time) == ("FINISHED", 2_000_000_000_000)
    assert finished.data.metrics == {
        "train/loss": 5.0,
        "test/test/bleu": 31.5,
        "test/test/bleu/low": 29.0,
        "test/test/bleu/high": 34.0,
        "cost/parameters": 1200.0,
        "cost/data_factor": 3.0,
        "cost/updates": 200.0,
        "cost/target_tokens": 5000.0,
        "cost/train_seconds": 20.0,
        "cost/cpu_seconds": 19.0,
        "cost/device_hours": 20 / 3600,
        "cost/trainings": 1.0,
        "cost/epochs": 10.0,
        "cost/onset": 0.0,
        "cost/epochs_by_view.source": 10.0,
        "cost/pieces.source": 12.0,
        "cost/pieces.target": 11.0,
    }
    assert curve(database, finished, "test/test/bleu") == [(0, 31.5)], (
        "MLflow draws metrics with a single step as bars"
    )
    assert finished.data.tags["signature/bleu"] == "tok:13a"
    assert finished.data.tags["augury.device"] == "cpu"
    assert artifacts(database, finished) == {
        "experiment.yaml",
        "run.json",
        "scores.json",
        "hypotheses",
        "vocabulary",
    }
    assert artifacts(database, finished, "vocabulary") == {"vocabulary/pieces.vocab"}
    path = MlflowClient(database).download_artifacts(finished.info.run_id, "hypotheses/test.txt")
    assert Path(path).read_text() == "a house\n"


def test_a_run_that_is_up_to_date_is_not_changed(run: Any, database: str) -> None:
    run.history(50, 100)
    run.scores()
    run.folder.finish({})
    assert sync(run.folder, Tracking(uri=database)) == 2
    before = logged_runs(database)
    assert sync(run.folder, Tracking(uri=database)) == 0
    after = logged_runs(database)
    assert {name: run.to_dictionary() for name, run in after.items()} == {
        name: run.to_dictionary() for name, run in before.items()
    }


def test_new_scores_of_a_finished_run_are_sent(run: Any, database: str) -> None:
    run.scores()
    record(run, "FINISHED", since=2e9)
    sync(run.folder, Tracking(uri=database))
    run.scores(value=32.5)
    record(run, "FINISHED", since=2e9 + 60)
    sync(run.folder, Tracking(uri=database))
    assert curve(database, logged_runs(database)[NAME], "test/test/bleu") == [(0, 31.5), (0, 32.5)]
    assert logged_runs(database)[NAME].data.metrics["test/test/bleu"] == 32.5


def test_a_restart_reopens_a_failed_run(run: Any, database: str) -> None:
    statuses = []
    for status in ("FAILED", "RUNNING", "FINISHED"):
        record(run, status)
        sync(run.folder, Tracking(uri=database))
        statuses.append(logged_runs(database)[NAME].info.status)
    assert statuses == ["FAILED", "RUNNING", "FINISHED"]


def test_a_setting_changed_by_a_restart_becomes_a_tag(run: Any, database: str) -> None:
    sync(run.folder, Tracking(uri=database))
    run.describe(parameters={"regime.beta": 5, "vocabulary.size": 4, "training.precision": "bf16"})
    sync(run.folder, Tracking(uri=database))
    data = logged_runs(database)[NAME].data
    assert (data.params["training.precision"], data.params["vocabulary.size"]) == ("fp32", "4")
    assert json.loads(data.tags["augury.changed_since_start"]) == {"training.precision": "bf16"}


def test_parameters_are_those_that_differ_or_matter(run: Any, database: str) -> None:
    run.describe(
        parameters={"regime.beta": 5, "regime.tau": 1, "decoding.beam": 5, "vocabulary.size": 9},
        differing=["regime.beta"],
    )
    sync(run.folder, Tracking(uri=database))
    assert logged_runs(database)[NAME].data.params == {"regime.beta": "5", "vocabulary.size": "9"}


def test_many_and_long_parameters_and_points(run: Any, database: str) -> None:
    parameters = {f"section.{index}": index for index in range(250)} | {
        "long": "x" * 7000,
        "odd (name)": 1,
    }
    run.describe(parameters=parameters, differing=[*parameters])
    lines = [
        {"update": update, "epochs": 0.0, "time": 1.7e9, "metrics": {"a": update, "b": -update}}
        for update in range(1, 1201)
    ]
    run.raw("00000001", *lines)
    sync(run.folder, Tracking(uri=database))
    sync(run.folder, Tracking(uri=database))
    data = logged_runs(database)[NAME].data
    assert len(data.params) == 252
    assert (data.params["odd _name_"], data.params["long"]) == ("1", "x" * 6000)
    assert "augury.changed_since_start" not in data.tags
    assert curve(database, logged_runs(database)[NAME], "b") == [
        (update, -update) for update in range(1, 1201)
    ]


def test_values_that_are_not_finite_become_nan(run: Any, database: str) -> None:
    lines = [
        {"update": update, "epochs": 0.0, "time": 1.7e9 + update, "metrics": {"train/loss": value}}
        for update, value in enumerate([1.0, math.inf, math.nan, None], start=1)
    ]
    run.raw("00000001", *lines)
    sync(run.folder, Tracking(uri=database))
    (_, first), *rest = curve(database, logged_runs(database)[NAME])
    assert first == 1.0
    assert [math.isnan(value) for _, value in rest] == [True, True, True]


def test_another_store_gets_everything(
    run: Any, database: str, tmp_path: Path, empty_database: Path
) -> None:
    run.history(50, 100)
    run.scores()
    run.folder.finish({})
    other = f"sqlite:///{tmp_path}/other.db"
    (tmp_path / "other.db").write_bytes(empty_database.read_bytes())
    for uri in (database, other):
        assert sync(run.folder, Tracking(uri=uri)) == 2
        assert curve(uri, logged_runs(uri)[NAME]) == [(50, 20.0), (100, 10.0)]


def test_the_model_is_logged_on_request(
    run: Any, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def export(folder: Any, store: Store, form: str, output: Path) -> None:
        output.mkdir()
        (output / "config.json").write_text(form)

    monkeypatch.setattr("augury.reporting.exporting.export", export)
    run.describe(parameters={"tracking.log_model": True})
    run.scores()
    run.folder.finish({})
    sync(run.folder, Tracking(uri=database))
    client, finished = MlflowClient(database), logged_runs(database)[NAME]
    (output,) = finished.outputs.model_outputs
    model = client.get_logged_model(output.model_id)
    assert (model.status, model.source_run_id) == ("READY", finished.info.run_id)
    assert Path(model.artifact_location.removeprefix("file://"), "config.json").read_text() == "hf"


def test_analyses_are_sent_at_any_time(run: Any, database: str) -> None:
    run.scores()
    run.folder.finish({})
    tracking = Tracking(uri=database)
    sync(run.folder, tracking)
    ended = logged_runs(database)[NAME].info.end_time
    run.folder.sub("analyses/test").write("outputs.json", "{}")
    assert sync(run.folder, tracking) == 1
    assert "analyses/test/outputs.json" in artifacts(
        database, logged_runs(database)[NAME], "analyses/test"
    )
    assert logged_runs(database)[NAME].info.end_time == ended
    assert sync(run.folder, tracking) == 0
