from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core.store import Store
from augury.tracking.ledger import LEDGER, closed, ledger, note


def test_a_run_without_a_ledger_runs_or_has_finished(run: Any) -> None:
    assert (ledger(run.folder)["status"], ledger(run.folder)["finished"]) == ("RUNNING", None)
    run.folder.finish({})
    state = ledger(run.folder)
    marker = Path(run.folder.path("_COMPLETE")).stat().st_mtime
    assert (state["status"], closed(state)) == ("FINISHED", False)
    assert state["finished"] == pytest.approx(marker, abs=1e-5)


def test_only_what_was_noted_is_written(store: Store) -> None:
    folder = store.folder("sweeps", "beta")
    note(folder, status="RUNNING", answer="Yes.")
    note(folder, status="KILLED")
    assert folder.read_json(LEDGER) == {"status": "KILLED", "answer": "Yes."}
    assert ledger(folder)["sent"] == {}


def test_equal_entries_are_not_written_again(run: Any) -> None:
    note(run.folder, run_id="a")
    path = Path(run.folder.path(LEDGER))
    before = path.stat().st_ino
    note(run.folder, run_id="a")
    assert path.stat().st_ino == before
    note(run.folder, run_id="b")
    assert path.stat().st_ino != before


def test_a_run_is_closed_until_it_ends_again(run: Any) -> None:
    note(run.folder, status="FINISHED", finished=5.0, closed=5.0)
    assert closed(ledger(run.folder))
    note(run.folder, status="RUNNING")
    assert not closed(ledger(run.folder))
    note(run.folder, status="FINISHED", finished=6.0)
    assert not closed(ledger(run.folder))
