"""The state of a sweep as its driver leaves it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from augury.core.store import Folder, Store
from augury.sweeping.schedulers import Listed, Trial
from augury.sweeping.state import DEFINITION, KIND
from augury.sweeping.trials import Trials
from augury.sweeping.writer import StateWriter


@pytest.fixture
def sweep(tmp_path: Path) -> Folder:
    folder = Store(tmp_path).folder(KIND, "mine")
    texts = {"name": "mine", "question": "?", "metric": "valid/bleu", "mode": "max", "scale": "toy"}
    lists: dict[str, Any] = {"keys": [], "seeds": [1], "configurations": [], "merged": []}
    folder.write_record(
        DEFINITION, {**texts, **lists, "scheduler": "race", "reference": "a", "started": 0.0}
    )
    return folder


@pytest.mark.parametrize("finished", [True, False])
def test_a_command_that_ended_in_order_is_not_taken_for_dead(sweep: Folder, finished: bool) -> None:
    """A budget ends it before everything is decided: it is stopped, at once and not after a time
    without heartbeats."""
    trials = SimpleNamespace(
        progress={Trial("a", 1): "finished" if finished else "stopped"},
        errors={},
        scheduler=Listed(["a"], [1], mode="max"),
    )
    writer = StateWriter(cast(Trials, trials), sweep, lambda *_: None)
    with writer.writing():
        pass
    end = writer.end(finished)
    assert (end.ended, end.stopped) == (finished, not finished)
    assert (end.silent is None) == finished
