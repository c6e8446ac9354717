"""`augury augment`: from an experiment file and from two files."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Augury

GERMAN = "abcdefghijklmnopqrstuvwxyzßäöü"
SIDES = {
    "source": ["hey, warum nicht?", "ein Haus", "", "wir alle"],
    "target": ["hey, why not?", "a house", "nothing", "all of us"],
}


def flags(folder: Path, sides: dict[str, list[str]], *words: str) -> list[str]:
    """Write the sides of a text, and return the flags of a command on them."""
    found = [*words, "--storage", str(folder / "store")]
    for side, lines in sides.items():
        (folder / side).write_text("".join(f"{line}\n" for line in lines))
        found += [f"--{side}", str(folder / side)]
    return found


def test_views_of_two_files_are_made_once(tmp_path: Path, augury: Augury) -> None:
    words = flags(tmp_path, SIDES, "--operator", "cipher", "--set", f"alphabet={GERMAN}")
    first = augury("augment", *words, "--set=keys=[1, 2]", "--json").json
    assert (first["rows_in"], first["rows_added"]) == (4, 6)
    assert sum(first["rows_excluded"].values()) == 1 and [*first["parts"]] == ["rot-1", "rot-2"]
    done = augury("augment", *words, "--set=keys=[1, 2, 3]", "--json")
    assert done.json["rows_added"] == 3
    assert "reused: rot-1, rot-2" in done.error
    assert "keys" in augury("augment", *words, "--set=keys=[x]", code=2).error
