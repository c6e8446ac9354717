"""Choices of settings have short names, and a command that is printed can be typed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from augury.core.naming import command, counted, mlflow_command, title


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


def test_a_program_is_called_by_its_path_where_the_shell_does_not_find_it(
    environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("augury", "train", "my file.yaml") == ".venv/bin/augury train 'my file.yaml'"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert command("augury", "track") == f"{environment}/augury track"


def test_a_program_keeps_its_name_where_the_shell_finds_it_or_the_environment_lacks_it(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("mlflow", "ui") == "mlflow ui"
    assert mlflow_command("http://server:5000") == "http://server:5000"
    monkeypatch.setenv("PATH", str(environment))
    assert command("augury") == "augury"


def test_a_program_of_another_environment_is_not_taken_for_it(
    environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "python").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(other))
    assert command("python", "example.py") == ".venv/bin/python example.py"
    assert command("python", "example.py", absolute=True) == f"{environment}/python example.py"
