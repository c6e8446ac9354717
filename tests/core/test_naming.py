"""A command that is printed can be typed, and a relative path begins at the folder of its file."""

from __future__ import annotations

import copy
import os
import pickle
import sys
from pathlib import Path

import pytest

from augury.core.errors import UserError
from augury.core.naming import command
from augury.core.paths import FileText, absolute, expanded


def test_a_program_has_its_path_unless_the_shell_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an environment that is not activated, in the working directory."""
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", "augury"):
        (programs / name).touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(programs / "python"))
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.chdir(tmp_path)
    assert command("augury", "train", "my file.yaml") == ".venv/bin/augury train 'my file.yaml'"
    assert command("augury", absolute=True) == f"{programs}/augury"
    assert command("mlflow", "ui") == "mlflow ui"  # which the environment lacks
    monkeypatch.setenv("PATH", str(programs))
    assert command("augury") == "augury"


def test_a_relative_path_begins_at_the_folder_of_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    here = os.getcwd()
    assert absolute("a.txt") == f"{here}/a.txt"
    assert absolute(FileText("../a.txt", "experiments")) == f"{here}/a.txt"
    assert absolute(FileText("~/a.txt", "/data")) == "/home/me/a.txt"
    assert absolute(FileText("s3://bucket/a", "/data")) == "s3://bucket/a"
    with pytest.raises(UserError, match="a path is empty"):
        absolute("")  # which would be the working directory
    assert expanded("~nobody-has-it/a") == Path("~nobody-has-it/a")
    text = FileText("a.txt", "/data/x")
    for copied in (text, copy.deepcopy(text), pickle.loads(pickle.dumps(text))):
        assert copied == "a.txt" and absolute(copied) == "/data/x/a.txt"
