from __future__ import annotations

from typing import Any

import pytest

from augury.core.errors import UserError
from augury.core.store import Store
from augury.experiments import stored_runs
from augury.experiments.record import RunRecord
from augury.training import history


def test_only_described_runs_count(run: Any, store: Store) -> None:
    store.folder("runs", "ff/seed-1").write("experiment.yaml", "")
    store.folder("runs", "ff/notes").write("run.json", "{}")
    assert [folder.name for folder in stored_runs.folders(store)] == [run.folder.name]


def test_history_is_in_the_order_of_updates(run: Any) -> None:
    run.history(100, 150)
    run.history(200, 250, name="00000100~")
    run.history(50, 50)
    records = history.read(run.folder)
    assert [record["update"] for record in records] == [50, 100, 150, 200, 250]
    assert records[1] == {
        "update": 100,
        "epochs": 0.0,
        "time": 1.7e9 + 10,
        "metrics": {"train/loss": 10.0},
    }


def test_notes_are_those_of_the_texts(run: Any, store: Store) -> None:
    inputs = RunRecord.read(run.folder).inputs
    assert stored_runs.corpus_notes(run.folder, inputs) == []
    store.folder("corpora", "a" * 16).finish({"note": "synthetic text"})
    store.folder("corpora", "b" * 16).finish({"note": None})
    assert stored_runs.corpus_notes(run.folder, inputs) == ["synthetic text"]


def test_a_run_without_history_has_none(run: Any) -> None:
    assert history.read(run.folder) == []


@pytest.mark.parametrize("line", [{"update": 1}, 3])
def test_a_damaged_file_is_named(run: Any, line: object) -> None:
    run.raw("00000001", line)
    with pytest.raises(UserError, match="history/00000001.jsonl is damaged"):
        history.read(run.folder)
