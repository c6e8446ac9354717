"""`augury list`: what there is, with installed plug-ins."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from augury.cli import main
from augury.cli.listing import KINDS
from augury.core.naming import command

Output = pytest.CaptureFixture[str]


def listed(output: Output, what: str) -> dict[str, str]:
    assert main(["list", what, "--json"]) == 0
    return {entry["name"]: entry["what"] for entry in json.loads(output.readouterr().out)}


@pytest.mark.parametrize(
    ("what", "name"),
    [
        ("operators", "cipher"),
        ("regimes", "coregularised"),
        ("presets", "coregularised: r_drop"),
        ("metrics", "bleu"),
        ("spaces", "agreement"),
        ("tables", "cipherdaug/table3"),
        ("corpora", "multi30k"),
        ("tasks", "nmt"),
        ("analyses", "buckets"),
    ],
)
def test_every_entry_says_what_it_is(capsys: Output, what: str, name: str) -> None:
    entries = listed(capsys, what)
    assert name in entries
    assert all(text and "cannot be loaded" not in text for text in entries.values())


def test_all_kinds_are_tested() -> None:
    marks = test_every_entry_says_what_it_is.pytestmark  # type: ignore[attr-defined]
    assert {case[0] for case in marks[0].args[1]} == KINDS.keys()


def test_installed_plugins_are_listed_and_broken_ones_say_why(
    capsys: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "upper.py").write_text(
        "from augury.augment.operator import Operator\n\n"
        "class Upper(Operator):\n    '''The source in capitals.'''\n\nOPERATOR = Upper\n"
    )
    package = tmp_path / "upper-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: upper\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(
        "[augury.operators]\nupper = upper:OPERATOR\nbroken = nowhere:OPERATOR\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    entries = listed(capsys, "operators")
    assert entries["upper"] == "The source in capitals. (reads source, target)"
    assert entries["broken"].startswith("cannot be loaded: ")


def test_unknown_lists_are_errors(capsys: Output) -> None:
    assert main(["list", "operator"]) == 2
    assert "operators" in capsys.readouterr().err


def test_without_a_word_it_says_what_can_be_listed(capsys: Output) -> None:
    assert main(["list"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown == [command("augury", "list", kind) for kind in KINDS]
