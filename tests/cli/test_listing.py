"""`augury list`: what there is, with installed plug-ins."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from augury.cli.listing import KINDS
from augury.core.naming import command
from tests.cli.conftest import Augury


def listed(augury: Augury, what: str) -> dict[str, str]:
    return {entry["name"]: entry["what"] for entry in augury("list", what, "--json").json}


def test_every_entry_says_what_it_is(augury: Augury) -> None:
    shown = augury("list").out.splitlines()
    assert shown == [command("augury", "list", kind) for kind in KINDS]
    for kind in KINDS:
        texts = listed(augury, kind).values()
        assert texts and all(text and "cannot be loaded" not in text for text in texts)
    assert "operators" in augury("list", "operator", code=2).error


def test_installed_plugins_are_listed_and_broken_ones_say_why(
    augury: Augury, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    entries = listed(augury, "operators")
    assert entries["upper"] == "The source in capitals. (reads source, target)"
    assert entries["broken"].startswith("cannot be loaded: ")
