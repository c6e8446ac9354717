"""Calls in other processes find the relative paths of the one that sent them."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.working_directory import in_this_directory


def test_a_call_works_where_it_was_prepared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text.txt").write_text("here")
    monkeypatch.chdir(tmp_path)
    read = in_this_directory(lambda: Path("text.txt").read_text())
    monkeypatch.chdir(tmp_path.parent)
    assert read() == "here"


def test_without_the_directory_it_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    here = in_this_directory(Path.cwd)
    monkeypatch.chdir(tmp_path)
    gone.rmdir()
    assert here() == tmp_path
