"""Tests for `augury.cli.track`."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.cli import main


def test_a_storage_without_runs_is_an_error_and_is_not_created(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["track", str(tmp_path / "results")]) == 2
    assert str(tmp_path / "results") in capsys.readouterr().err
    assert not (tmp_path / "results").exists()
