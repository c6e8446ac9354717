"""A run that is about to begin."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.store import Store
from tests.run_folders import ADDRESS, Run


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "results")


@pytest.fixture
def run(store: Store) -> Run:
    return Run(store.folder("runs", f"{ADDRESS}/seed-3"))
