from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from augury.core.store import Store
from augury.experiments.tracking import Tracking, place
from augury.tracking.ledger import ledger, note
from augury.tracking.mirror import Mirror


@pytest.fixture
def mirror(database: str, store: Store) -> Mirror:
    return again(database, store)


def again(database: str, store: Store) -> Mirror:
    """A mirror as the next process makes it."""
    return Mirror(place(Tracking(uri=database), store), "augury")


def points(mirror: Mirror, run: Any, metric: str = "train/loss") -> list[tuple[int, float]]:
    history = mirror.open().get_metric_history(ledger(run.folder)["run_id"], metric)
    return [(point.step, point.value) for point in history]


def all_runs(mirror: Mirror) -> list[Any]:
    client = mirror.open()
    return list(client.search_runs([experiment.experiment_id for experiment in client.search_experiments()]))


def test_a_run_is_described(mirror: Mirror, run: Any, store: Store) -> None:
    store.folder("corpora", "a" * 16).finish({"note": "synthetic text"})
    store.folder("corpora", "b" * 16).finish({"note": "synthetic text"})
    mirror.deliver(run.folder)
    (found,) = all_runs(mirror)
    assert found.info.run_name == "cipherdaug seed 3"
    assert found.info.status == "RUNNING"
    assert found.data.params == {"regime.beta": "5", "augment.0.keys": "[1, 2]", "training.precision": "fp32"}
    expected = {
        "augury.run": "runs/00aa11bb22cc33dd/seed-3",
        "augury.storage": run.folder.root,
        "augury.name": "cipherdaug",
        "augury.experiment": "ciphers",
        "augury.address": "00aa11bb22cc33dd",
        "augury.seed": "3",
        "augury.task": "nmt",
        "version.augury": "0.1.0",
        "mlflow.source.git.commit": "c0ffee",
        "mlflow.note.content": "synthetic text",
    }
    assert {key: found.data.tags.get(key) for key in expected} == expected
    inputs = [
        (given.dataset.name, given.dataset.digest, json.loads(given.dataset.profile), given.tags[0].value)
        for given in found.inputs.dataset_inputs
    ]
    assert sorted(inputs) == [("test", "b" * 16, {"rows": 9}, "test"), ("train", "a" * 16, {"rows": 2900}, "train")]


def test_history_is_sent_as_it_grows_each_point_once(mirror: Mirror, run: Any) -> None:
    run.history(50, 100)
    mirror.deliver(run.folder)
    run.history(150, 200)
    mirror.deliver(run.folder)
    mirror.deliver(run.folder)
    assert points(mirror, run) == [(50, 20.0), (100, 10.0), (150, 1000 / 150), (200, 5.0)]
    first = mirror.open().get_metric_history(ledger(run.folder)["run_id"], "train/loss")[0]
    assert first.timestamp == 1_700_000_005_000


def test_the_next_process_continues_the_same_run(mirror: Mirror, run: Any, database: str, store: Store) -> None:
    run.history(50, 100)
    mirror.deliver(run.folder)
    run.history(150, 150)
    later = again(database, store)
    later.deliver(run.folder)
    assert len(all_runs(later)) == 1
    assert points(later, run) == [(50, 20.0), (100, 10.0), (150, 1000 / 150)]


def test_updates_repeated_after_a_restart_are_sent_once(mirror: Mirror, run: Any, database: str, store: Store) -> None:
    run.history(50, 200)
    mirror.deliver(run.folder)
    run.folder.sub("history").remove("00000050.jsonl")
    run.history(50, 100)
    run.history(150, 300, delay=60.0)
    mirror.deliver(run.folder)
    again(database, store).deliver(run.folder)
    assert [step for step, _ in points(mirror, run)] == [50, 100, 150, 200, 250, 300]


def test_a_file_written_anew_with_more_in_it_is_read_again(mirror: Mirror, run: Any) -> None:
    run.history(50, 100)
    mirror.deliver(run.folder)
    run.history(50, 250)
    mirror.deliver(run.folder)
    assert [step for step, _ in points(mirror, run)] == [50, 100, 150, 200, 250]


def test_a_lost_ledger_finds_its_run_again(mirror: Mirror, run: Any, database: str, store: Store) -> None:
    run.history(50, 100)
    mirror.deliver(run.folder)
    run.folder.remove("tracking.json")
    later = again(database, store)
    later.deliver(run.folder)
    assert len(all_runs(later)) == 1
    assert [step for step, _ in points(later, run)] == [50, 100]


def test_another_store_gets_everything(
    mirror: Mirror, run: Any, tmp_path: Path, empty_database: Path, store: Store
) -> None:
    run.history(50, 100)
    run.scores()
    note(run.folder, status="FINISHED", finished=1.7e9)
    assert mirror.deliver(run.folder)
    (tmp_path / "other.db").write_bytes(empty_database.read_bytes())
    other = again(f"sqlite:///{tmp_path}/other.db", store)
    assert other.deliver(run.folder)
    assert [step for step, _ in points(other, run)] == [50, 100]
    assert all_runs(other)[0].data.metrics["test/test/bleu"] == 31.5


def test_a_finished_run_has_scores_cost_and_files(mirror: Mirror, run: Any, store: Store) -> None:
    run.history(50, 200)
    run.scores()
    store.folder("vocabularies", "77").write("pieces.vocab", "a\n")
    file = {"root": store.root, "folder": "vocabularies/77", "name": "pieces.vocab", "directory": "vocabulary"}
    note(run.folder, status="FINISHED", finished=1_700_000_100.0, files=[file])
    assert mirror.deliver(run.folder)
    (found,) = all_runs(mirror)
    assert (found.info.status, found.info.end_time) == ("FINISHED", 1_700_000_100_000)
    assert found.data.metrics == {
        "train/loss": 5.0,
        "test/test/bleu": 31.5,
        "test/test/bleu/low": 29.0,
        "test/test/bleu/high": 34.0,
        "cost/parameters": 1200.0,
        "cost/data_factor": 3.0,
        "cost/updates": 200.0,
        "cost/target_tokens": 5000.0,
        "cost/train_seconds": 20.0,
        "cost/device_hours": 0.0056,
        "cost/onset": 0.0,
        "cost/passes_by_view.source": 10.0,
        "cost/pieces.source": 12.0,
        "cost/pieces.target": 11.0,
    }
    assert found.data.tags["signature/bleu"] == "tok:13a"
    assert found.data.tags["augury.device"] == "cpu"
    client, run_id = mirror.open(), found.info.run_id
    directories = ("", "hypotheses", "vocabulary")
    paths = {entry.path for directory in directories for entry in client.list_artifacts(run_id, directory)}
    assert paths == {
        "experiment.yaml",
        "run.json",
        "scores.json",
        "hypotheses",
        "hypotheses/test.txt",
        "vocabulary",
        "vocabulary/pieces.vocab",
    }
    assert Path(client.download_artifacts(run_id, "hypotheses/test.txt")).read_text() == "a house\n"


def test_what_is_delivered_is_left_alone(mirror: Mirror, run: Any, database: str, store: Store) -> None:
    run.scores()
    note(run.folder, status="FINISHED", finished=1.7e9)
    assert mirror.deliver(run.folder)
    assert not again(database, store).deliver(run.folder)


def test_new_scores_of_a_delivered_run_are_sent(mirror: Mirror, run: Any) -> None:
    run.scores()
    note(run.folder, status="FINISHED", finished=1.7e9)
    mirror.deliver(run.folder)
    run.scores(value=32.5)
    note(run.folder, status="FINISHED", finished=1.7e9 + 60)
    assert mirror.deliver(run.folder)
    assert points(mirror, run, "test/test/bleu") == [(200, 31.5), (200, 32.5)]
    assert points(mirror, run, "test/test/bleu/low") == [(200, 29.0)]


def test_a_restart_reopens_a_failed_run(mirror: Mirror, run: Any, database: str, store: Store) -> None:
    note(run.folder, status="FAILED", finished=1.7e9)
    mirror.deliver(run.folder)
    assert all_runs(mirror)[0].info.status == "FAILED"
    note(run.folder, status="RUNNING")
    later = again(database, store)
    later.deliver(run.folder)
    assert [found.info.status for found in all_runs(later)] == ["RUNNING"]


def test_a_setting_changed_by_a_restart_becomes_a_tag(mirror: Mirror, run: Any, database: str, store: Store) -> None:
    mirror.deliver(run.folder)
    run.describe(parameters={"regime.beta": 5, "execution.workers": 4, "training.precision": "bf16"})
    later = again(database, store)
    later.deliver(run.folder)
    (found,) = all_runs(later)
    assert found.data.params["training.precision"] == "fp32"
    assert found.data.params["execution.workers"] == "4"
    assert json.loads(found.data.tags["augury.changed_since_start"]) == {"training.precision": "bf16"}


def test_many_and_long_parameters_and_points(mirror: Mirror, run: Any) -> None:
    parameters = {f"section.{index}": index for index in range(250)} | {"long": "x" * 7000, "odd (name)": 1}
    run.describe(parameters=parameters)
    run.raw(
        "00000000",
        *(
            {"update": update, "passes": 0.0, "time": 1.7e9, "metrics": {"a": update, "b": -update}}
            for update in range(1200)
        ),
    )
    mirror.deliver(run.folder)
    params = all_runs(mirror)[0].data.params
    assert len(params) == 252
    assert params["odd _name_"] == "1"
    assert params["long"] == "x" * 5971 + " ... (7000 characters in all)"
    assert len(params["long"]) == 6000
    assert points(mirror, run, "b") == [(update, -update) for update in range(1200)]


def test_what_is_not_finite_is_shown_as_such(mirror: Mirror, run: Any) -> None:
    values = [1.0, math.inf, math.nan, None]
    run.raw(
        "00000000",
        *(
            {"update": update, "passes": 0.0, "time": 1.7e9 + update, "metrics": {"train/loss": value}}
            for update, value in enumerate(values)
        ),
    )
    mirror.deliver(run.folder)
    (_, first), *rest = points(mirror, run)
    assert first == 1.0
    assert [math.isnan(value) for _, value in rest] == [True, True, True]
