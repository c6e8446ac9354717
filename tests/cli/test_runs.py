"""`augury runs`: list, filter and delete the runs of a storage."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.locks import locked
from augury.core.store import Folder, Store
from tests.cli.conftest import Augury
from tests.run_folders import Run

A, B = "aa" * 8, "bb" * 8


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


def listed(store: Store, augury: Augury, *words: str) -> dict[str, dict[str, object]]:
    """Return the listed runs by name."""
    return {run["name"]: run for run in augury("runs", store.root, *words, "--json").json}


def test_a_list_has_state_score_cost_and_size(store: Store, augury: Augury) -> None:
    with locked(store.folder("runs", f"{B}/seed-2")):
        assert listed(store, augury)["my/cipher/2"]["state"] == "running"
    runs = listed(store, augury)
    assert next(iter(runs)) == "my/cipher/2"  # the latest
    states = {"my/baseline/1": "scored", "my/cipher/1": "failed", "my/cipher/2": "unfinished"}
    assert {name: run["state"] for name, run in runs.items()} == states
    baseline = runs["my/baseline/1"]
    assert (baseline["score"], baseline["metric"], baseline["test"]) == (31.5, "bleu", "test")
    assert baseline["seconds"] == 19.0
    files = Path(store.root, "runs", A, "seed-1").rglob("*")
    assert baseline["bytes"] == sum(file.stat().st_size for file in files if file.is_file())
    shown = augury("runs", store.root).out
    assert all(name in shown for name in states) and "test: BLEU 31.5" in shown


def test_lists_are_filtered(store: Store, augury: Augury) -> None:
    failed, stopped, scored = "my/cipher/1", "my/cipher/2", "my/baseline/1"
    assert set(listed(store, augury, "--state", "failed", "unfinished")) == {failed, stopped}
    assert set(listed(store, augury, stopped, "my/baseline")) == {stopped, scored}


def test_a_run_that_experiments_share_is_found_by_each_name(store: Store, augury: Augury) -> None:
    systems = {"plain": [f"runs/{A}/seed-1"]}
    store.folder("reports", "other").write_record("report.json", {"systems": systems})
    for pattern in ("other/*", "my/base*"):
        (shared,) = listed(store, augury, pattern).values()
        assert shared["names"] == ["other/plain/1", "my/baseline/1"]


def test_a_run_is_deleted_with_what_depends_on_it_but_not_without_yes(
    store: Store, augury: Augury
) -> None:
    texts = store.folder("records", "0" * 16)
    texts.finish({"side_data": {"models": {"teacher": f"runs/{A}/seed-1"}}})
    for flags in ([], ["--yes"]):
        assert texts.complete
        told = augury("runs", store.root, "my/baseline", "--delete", *flags, "--json").json
        assert told["folders"] == [f"runs/{A}/seed-1", f"records/{'0' * 16}"]
    assert not texts.exists() and set(listed(store, augury)) == {"my/cipher/1", "my/cipher/2"}


def test_neither_all_runs_nor_those_in_training_are_deleted(store: Store, augury: Augury) -> None:
    augury("runs", store.root, "--delete", "--yes", code=2)
    with locked(Folder(store.root, f"runs/{B}/seed-2")):
        augury("runs", store.root, "my/cipher", "--delete", "--yes", code=2)
    assert len(listed(store, augury)) == 3
