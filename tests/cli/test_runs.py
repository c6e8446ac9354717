"""`augury runs`: list, filter and delete the runs of a storage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from augury.cli import main
from augury.core.locks import locked
from augury.core.store import Folder, Store
from augury.experiments.recording import Tracking
from augury.tracking.export import Exporter
from tests.run_folders import Run
from tests.tracking.reading import logged_runs

A, B = "aa" * 8, "bb" * 8
Output = pytest.CaptureFixture[str]


FAILED = {"kind": "Diverged", "error": "loss is NaN"}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A storage with a scored run of a system, and two of another: one failed, one stopped."""
    store = Store(tmp_path / "results")
    scored = add(store, "baseline", A, 1)
    scored.scores(31.5)
    scored.folder.finish({})
    add(store, "cipher", B, 1).folder.write_record("failure.json", FAILED)
    add(store, "cipher", B, 2)
    return store


def add(store: Store, name: str, address: str, seed: int) -> Run:
    run = Run(store.folder("runs", f"{address}/seed-{seed}"))
    run.describe(name=name, experiment="my", address=address, seed=seed)
    run.history(50, 50 * seed)
    return run


def listed(store: Store, output: Output, *arguments: str) -> dict[str, dict[str, object]]:
    """Return the listed runs by name."""
    assert main(["runs", store.root, *arguments, "--json"]) == 0
    return {run["name"]: run for run in json.loads(output.readouterr().out)}


def test_a_list_has_state_score_cost_and_size(store: Store, capsys: Output) -> None:
    runs = listed(store, capsys)
    states = {name: run["state"] for name, run in runs.items()}
    assert states == {
        "my/baseline/1": "scored",
        "my/cipher/1": "failed",
        "my/cipher/2": "unfinished",
    }
    baseline = runs["my/baseline/1"]
    assert (baseline["score"], baseline["metric"], baseline["test"]) == (31.5, "bleu", "test")
    assert baseline["seconds"] == 19.0
    folder = Path(store.root, "runs", A, "seed-1")
    assert baseline["bytes"] == sum(
        file.stat().st_size for file in folder.rglob("*") if file.is_file()
    )


def test_a_run_that_a_process_works_on_is_running(store: Store, capsys: Output) -> None:
    with locked(store.folder("runs", f"{B}/seed-2")):
        assert listed(store, capsys)["my/cipher/2"]["state"] == "running"


@pytest.mark.parametrize("pattern", ["cipher*", "cipher/?", "*cipher"])
def test_a_pattern_that_matches_with_the_experiment_is_told_so(
    store: Store, capsys: Output, pattern: str
) -> None:
    assert main(["runs", store.root, pattern]) == 0
    wider = capsys.readouterr().err.split("'")[1]
    assert set(listed(store, capsys, wider)) == {"my/cipher/1", "my/cipher/2"}


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["--state", "failed", "unfinished"], {"my/cipher/1", "my/cipher/2"}),
        (["my/base*"], {"my/baseline/1"}),
        (["cipher/2", "baseline"], {"my/cipher/2", "my/baseline/1"}),
        (["--task", "nli"], set()),
    ],
)
def test_lists_are_filtered(
    store: Store, capsys: Output, arguments: list[str], names: set[str]
) -> None:
    assert set(listed(store, capsys, *arguments)) == names


def test_the_latest_run_comes_first_unless_another_order_is_wanted(
    store: Store, capsys: Output
) -> None:
    assert next(iter(listed(store, capsys))) == "my/cipher/2"
    assert next(iter(listed(store, capsys, "--sort", "score"))) == "my/baseline/1"


def test_deleting_is_dry_without_yes(store: Store, capsys: Output) -> None:
    texts = store.folder("records", "0" * 16)
    texts.finish({"side_data": {"models": {"teacher": f"runs/{A}/seed-1"}}})
    assert main(["runs", store.root, "my/baseline", "--delete"]) == 0
    output = capsys.readouterr().out
    assert "my/baseline/1" in output and "records/" in output and "--yes" in output
    assert texts.complete


def test_a_run_is_deleted_with_what_depends_on_it(store: Store, capsys: Output) -> None:
    texts = store.folder("records", "0" * 16)
    texts.finish({"side_data": {"models": {"teacher": f"runs/{A}/seed-1"}}})
    assert main(["runs", store.root, "my/baseline", "--delete", "--yes", "--json"]) == 0
    deleted = json.loads(capsys.readouterr().out)
    assert deleted["folders"] == [f"runs/{A}/seed-1", f"records/{'0' * 16}"]
    assert not texts.exists() and set(listed(store, capsys)) == {"my/cipher/1", "my/cipher/2"}


def test_all_runs_are_never_deleted_at_once(store: Store) -> None:
    assert main(["runs", store.root, "--delete", "--yes"]) == 2


def test_a_run_in_training_is_not_deleted(store: Store) -> None:
    with locked(Folder(store.root, f"runs/{B}/seed-2")):
        assert main(["runs", store.root, "my/cipher", "--delete", "--yes"]) == 2
    assert store.folder("runs", f"{B}/seed-1").exists()


def test_a_deleted_run_is_deleted_in_mlflow(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    Exporter(Tracking(), store).storage()
    assert main(["runs", store.root, "baseline", "--delete", "--yes"]) == 0
    names = set(logged_runs(f"sqlite:///{store.root}/mlflow.db"))
    assert names == {"cipher seed 1", "cipher seed 2", "cipher", "my"}


def test_a_storage_that_was_moved_is_missed_with_those_beside_it(
    store: Store, tmp_path: Path, capsys: Output
) -> None:
    moved = Path(store.root).rename(tmp_path / "archive")
    assert main(["runs", store.root]) == 2
    assert str(moved) in capsys.readouterr().err
