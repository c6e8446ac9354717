"""Choices of settings have short names, a command that is printed can be typed, and relative paths
begin somewhere."""

from __future__ import annotations

import copy
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

from augury.core.naming import command, counted, mlflow_command, title
from augury.core.paths import FileText, absolute, expanded


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"regime.beta": 5, "regime.tau": 0.5}, "beta=5, tau=0.5"),
        ({"augment.0.keys": [1, 2]}, "keys=1+2"),
        ({"augment.0.keys": []}, "keys=none"),
        ({"vocabulary.size": 3, "model.size": 4}, "vocabulary.size=3, model.size=4"),
        ({"regime": {"name": "multi_source", "equation": 2}}, "regime=multi_source(equation=2)"),
        ({"augment": [{"operator": "cipher", "keys": [1, 2]}]}, "augment=cipher(keys=1+2)"),
        ({"training.learning_rate": 0.0005}, "learning_rate=0.0005"),
    ],
)
def test_titles(settings: dict[str, Any], expected: str) -> None:
    assert title(settings) == expected


def test_counts_agree_with_their_nouns() -> None:
    assert [counted(number, "row") for number in (0, 1, 1234)] == ["0 rows", "1 row", "1,234 rows"]
    assert counted(2, "hypothesis", "hypotheses") == "2 hypotheses"


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The programs of an environment that is not activated, in the working directory."""
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", "augury"):
        (programs / name).touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(programs / "python"))
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.chdir(tmp_path)
    return programs


def test_a_program_has_its_path_unless_the_shell_finds_it(
    environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("augury", "train", "my file.yaml") == ".venv/bin/augury train 'my file.yaml'"
    assert command("augury", absolute=True) == f"{environment}/augury"
    assert command("mlflow", "ui") == "mlflow ui"  # which the environment lacks
    assert mlflow_command("http://server:5000") == "http://server:5000"
    other = tmp_path / "other"  # another environment
    other.mkdir()
    (other / "python").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(other))
    assert command("python", "example.py") == ".venv/bin/python example.py"
    monkeypatch.setenv("PATH", str(environment))
    assert command("augury") == "augury"
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.chdir(other)
    assert command("augury", "track") == f"{environment}/augury track"


def test_a_relative_path_begins_at_the_folder_of_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    here = os.getcwd()
    assert absolute("a.txt") == f"{here}/a.txt"
    assert absolute(FileText("../a.txt", "experiments")) == f"{here}/a.txt"
    assert absolute(FileText("~/a.txt", "/data")) == "/home/me/a.txt"
    assert absolute(FileText("s3://bucket/a", "/data")) == "s3://bucket/a"
    assert expanded("~nobody-has-it/a") == Path("~nobody-has-it/a")
    text = FileText("a.txt", "/data/x")
    for copied in (text, copy.deepcopy(text), pickle.loads(pickle.dumps(text))):
        assert copied == "a.txt" and absolute(copied) == "/data/x/a.txt"
