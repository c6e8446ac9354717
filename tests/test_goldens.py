"""What needs no learning is what it was: addresses, texts, tokens, ciphers, batches."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path

import pytest

from augury.cli import main
from tests import goldens

pytestmark = pytest.mark.trains


@pytest.fixture(scope="module")
def current(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    def run(words: Sequence[str], folder: Path) -> str:
        with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as printed:
            assert main(words) == 0
        return printed.getvalue()

    return goldens.fixed(tmp_path_factory.mktemp("goldens"), run)


@pytest.mark.parametrize("name", ["addresses.tsv", "texts.tsv", "batches.json"])
def test_what_needs_no_learning_is_as_it_was(name: str, current: dict[str, str]) -> None:
    """Where it changes for a reason: `python tests/goldens.py freeze`."""
    frozen = (goldens.COMMITTED / name).read_text(encoding="utf-8")
    assert current[name].splitlines() == frozen.splitlines()


def test_differences_are_found(tmp_path: Path) -> None:
    """Values, rows of tables, and what one side lacks."""
    for side, loss, further in (("a", 1.5, {}), ("b", 1.25, {"y/seed-2": {"loss": 2}})):
        runs = {"x/seed-1": {"loss": loss, "tests": [3]}, **further}
        goldens.put(tmp_path / side / "runs.json", goldens.as_json(runs))
        goldens.put(tmp_path / side / "texts.tsv", f"tokens/1\t{side}\ntokens/2\tsame\n")
    sides = (tmp_path / "a", tmp_path / "b")
    assert goldens.compare(*sides) == 3
    assert goldens.compare(sides[0], sides[0]) == 0


def test_times_and_paths_are_left_out() -> None:
    described = {"name": "x", "train_seconds": 2.5, "answer": "1.25 × the CPU time in 3.5 min"}
    assert goldens.tidy([{**described, "run": "/tmp/store/runs/x/seed-1"}]) == {
        "x": {"name": "x", "answer": "… in …", "run": "…runs/x/seed-1"}
    }
