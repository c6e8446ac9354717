from __future__ import annotations

from pathlib import Path

from augury.core.store import Store
from augury.reporting.selection import load_systems
from tests.reporting.conftest import Results


def test_a_run_may_lie_below_a_directory_called_sweeps(tmp_path: Path) -> None:
    storage = str(tmp_path / "sweeps" / "mine")
    results = Results(Store(storage))
    folders = [results.run("base", "ab" * 8, bleu=30.0), results.run("other", "cd" * 8, bleu=31.0)]
    assert [system.name for system in load_systems([str(folder.uri) for folder in folders], storage)] == [
        "base",
        "other",
    ]
