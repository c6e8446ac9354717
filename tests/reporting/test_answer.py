from __future__ import annotations

from typing import Any

import pytest

from augury.reporting.answer import answer
from augury.reporting.results import load
from augury.reporting.table import comparison

Systems = list[tuple[str, list[float]]]


def said(results: Any, systems: Systems, half_width: float = 1.0) -> str:
    """The answer for systems given by name and the BLEU of every seed, each twice as slow as the one before."""
    folders = [results.run(name, f"{index}" * 16, seed, bleu=bleu, half_width=half_width, seconds=100 * 2**index)
               for index, (name, scores) in enumerate(systems) for seed, bleu in enumerate(scores)]  # fmt: skip
    return answer(comparison(load(folders), "test"))


@pytest.mark.parametrize(("systems", "expected"), [
    ([("base", [30.0, 30.0]), ("cipher", [32.5, 32.5])],
     "On test, cipher scores 2.5 BLEU more than base (32.5 against 30.0) at 2.0 × the training time; "
     "the 95 % intervals do not overlap."),
    ([("base", [30.0, 30.0]), ("cipher", [31.5, 31.5])],
     "On test, cipher scores 1.5 BLEU more than base (31.5 against 30.0) at 2.0 × the training time, "
     "but the 95 % intervals overlap."),
    ([("base", [30.0, 30.0]), ("cipher", [32.5])],
     "On test, cipher scores 2.5 BLEU more than base (32.5 against 30.0) at 2.0 × the training time; "
     "the 95 % intervals do not overlap, but one seed does not decide."),
    ([("base", [30.0]), ("cipher", [30.5]), ("r-drop", [31.0])],
     "On test, r-drop scores 1.0 BLEU more than base (31.0 against 30.0) at 4.0 × the training time, "
     "but the 95 % intervals overlap, one seed does not decide and the best of 2 owes something to chance."),
    ([("base", [30.0]), ("cipher", [29.6])],
     "On test, no system beats base (BLEU 30.0): cipher scores 0.4 BLEU less, "
     "but the 95 % intervals overlap and one seed does not decide."),
    ([("base", [30.0, 30.0]), ("cipher", [25.0, 25.0])],
     "On test, no system beats base (BLEU 30.0): cipher scores 5.0 BLEU less; the 95 % intervals do not overlap."),
    ([("base", [30.0, 30.0]), ("cipher", [30.04, 30.04])],
     "On test, no system beats base (BLEU 30.0): cipher scores the same BLEU, but the 95 % intervals overlap."),
    ([("base", [30.0])], "On test, base reaches BLEU 30.0 [29.0, 31.0]; there is nothing to compare it with."),
])  # fmt: skip
def test_answer(results: Any, systems: Systems, expected: str) -> None:
    assert said(results, systems) == expected


def test_seeds_that_disagree_make_the_intervals_overlap(results: Any) -> None:
    assert "the 95 % intervals overlap" in said(results, [("base", [30.0, 30.0]), ("cipher", [29.0, 40.0])])


def test_nothing_is_claimed_before_there_are_scores(results: Any) -> None:
    base, cipher = results.run("base", "0" * 16), results.run("cipher", "1" * 16, bleu=31.0)
    assert answer(comparison(load([base, cipher]), "test")) == (
        "The baseline base has no scores on test yet, so nothing can be compared."
    )
    assert answer(comparison(load([cipher, base]), "test")) == (
        "On test, cipher reaches BLEU 31.0 [30.0, 32.0]; its competitors have no comparable scores yet."
    )
