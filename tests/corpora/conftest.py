"""What tests of corpora share."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let known sets be read from below `tmp_path`."""
    monkeypatch.setenv("AUGURY_DATA", str(tmp_path))
