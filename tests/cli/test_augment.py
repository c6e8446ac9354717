"""`augury augment`: from two files."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Augury

SIDES = {
    "source": ["hey, warum nicht?", "ein Haus", "", "wir alle"],
    "target": ["hey, why not?", "a house", "nothing", "all of us"],
}


def test_views_of_two_files_are_made_once(tmp_path: Path, augury: Augury) -> None:
    words = ["--operator", "cipher", "--storage", str(tmp_path / "store")]
    words += ["--set", "alphabet=abcdefghijklmnopqrstuvwxyzßäöü"]
    for side, lines in SIDES.items():
        (tmp_path / side).write_text("".join(f"{line}\n" for line in lines))
        words += [f"--{side}", str(tmp_path / side)]
    first = augury("augment", *words, "--set=keys=[1, 2]", "--json").json
    assert (first["rows_in"], first["rows_added"]) == (4, 6)
    assert sum(first["rows_excluded"].values()) == 1 and [*first["parts"]] == ["rot-1", "rot-2"]
    done = augury("augment", *words, "--set=keys=[1, 2, 3]", "--json")
    assert done.json["rows_added"] == 3
    assert "reused: rot-1, rot-2" in done.error
    assert "keys" in augury("augment", *words, "--set=keys=[x]", code=2).error
