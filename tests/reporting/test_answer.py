from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from augury.reporting.answer import answer
from augury.reporting.results import Cost, Estimate
from augury.reporting.table import Row, Table
from augury.scoring.significance import Difference

COST = Cost(
    parameters=1e6,
    data_factor=1.0,
    updates=400,
    passes={"source": 10.0},
    onset=0,
    pieces={"source": 12.0},
    weights=("averaged",),
    target_tokens=5e6,
    train_seconds=100.0,
    device_hours=0.1,
    device="cpu",
)


def row(
    name: str,
    value: float | None,
    low: float = 0.0,
    high: float = 0.0,
    p: float | None = None,
    seeds: int = 3,
    factor: float | None = 2.0,
    over: Any = "seeds and sentences",
) -> Row:
    """A system against a baseline at BLEU 30; `p` is corrected already."""
    scores = {} if value is None else {"bleu": Estimate(value, value - 1, value + 1, "tok:13a", 1000, seeds)}
    difference = None if value is None else value - 30.0
    tested = None if p is None else Difference(value - 30.0, low, high, p, over)  # type: ignore[operator]
    return Row(name, name * 4, tuple(range(seeds)), scores, difference, tested, p, COST, factor)


def said(*rivals: Row, seeds: int = 3) -> str:
    base = replace(row("base", 30.0, seeds=seeds, factor=1.0), difference=None)
    tests = sum(rival.tested is not None for rival in rivals)
    return answer(Table("test", ("bleu",), (base, *rivals), tests, ()))


HEAD = "On test, cipher scores 2.5 BLEU more than base (32.5 against 30.0) at 2.0 × the training time"


@pytest.mark.parametrize(
    ("rivals", "expected"),
    [
        (
            [row("cipher", 32.5, 1.9, 3.1, 0.0002)],
            f"{HEAD}; the difference is real (95 % interval +1.9 to +3.1, p < 0.001).",
        ),
        (
            [row("cipher", 32.5, -0.4, 5.4, 0.08)],
            f"{HEAD}, but that may be chance (95 % interval -0.4 to +5.4, p = 0.080).",
        ),
        (
            [row("cipher", 32.5, 0.1, 4.9, 0.12), row("other", 31.0, -1, 3, 0.3)],
            f"{HEAD}, but that may be chance (95 % interval +0.1 to +4.9, p = 0.120 after "
            f"correction for 2 comparisons).",
        ),
        (
            [row("cipher", 32.5, 1.9, 3.1, 0.001), row("wild", 34.0, -1, 9, 0.3)],
            f"{HEAD}; the difference is real (95 % interval +1.9 to +3.1, p = 0.001 after "
            f"correction for 2 comparisons); "
            "wild scores still more (+4.0), but that may be chance.",
        ),
        (
            [row("cipher", 29.6, -1.4, 0.6, 0.4)],
            "On test, cipher does not beat base (BLEU 30.0): it scores 0.4 BLEU less, but that may be chance "
            "(95 % interval -1.4 to +0.6, p = 0.400).",
        ),
        (
            [row("cipher", 29.6, -1.4, 0.6, 0.4), row("wild", 29.0, -2, 0.5, 0.4)],
            "On test, no system beats base (BLEU 30.0): cipher scores 0.4 BLEU less, but that may be chance "
            "(95 % interval -1.4 to +0.6, p = 0.400 after correction for 2 comparisons).",
        ),
        (
            [row("cipher", 25.0, -6.0, -4.0, 0.0)],
            "On test, cipher does not beat base (BLEU 30.0): it scores 5.0 BLEU less; the difference is real "
            "(95 % interval -6.0 to -4.0, p < 0.001).",
        ),
        (
            [row("cipher", 30.04, -1.0, 1.1, 0.9)],
            "On test, cipher does not beat base (BLEU 30.0): it scores the same BLEU (95 % "
            "interval of the difference -1.0 to "
            "+1.1).",
        ),
        (
            [row("cipher", 32.5, factor=None)],
            "On test, cipher scores 2.5 BLEU more than base (32.5 against 30.0), but the difference is not tested.",
        ),
        ([], "On test, base reaches BLEU 30.0 [29.0, 31.0]; there is nothing to compare it with."),
        (
            [row("cipher", None)],
            "On test, base reaches BLEU 30.0 [29.0, 31.0]; its competitors have no comparable scores yet.",
        ),
    ],
)
def test_answer(rivals: list[Row], expected: str) -> None:
    assert said(*rivals) == expected


@pytest.mark.parametrize(
    ("rival", "seeds", "expected"),
    [
        (
            row("cipher", 32.5, 1.9, 3.1, 0.002, seeds=1, over="sentences"),
            1,
            f"{HEAD}; between these two runs the difference is real (95 % interval +1.9 to +3.1, p "
            f"= 0.002), but one seed "
            "does not decide.",
        ),
        (
            row("cipher", 32.5, -0.1, 5.1, 0.06, seeds=1, over="sentences"),
            1,
            f"{HEAD}, but that may be chance (95 % interval -0.1 to +5.1, p = 0.060), and one seed does not decide.",
        ),
        (
            row("cipher", 32.5, 1.9, 3.1, 0.002, seeds=1),
            3,
            f"{HEAD}; the difference is real (95 % interval +1.9 to +3.1, p = 0.002), but one seed does not decide.",
        ),
        (row("cipher", 32.5, seeds=1), 3, f"{HEAD}, but the difference is not tested and one seed does not decide."),
    ],
)
def test_one_seed_does_not_decide(rival: Row, seeds: int, expected: str) -> None:
    assert said(rival, seeds=seeds) == expected


def test_nothing_is_claimed_before_the_baseline_has_scores() -> None:
    table = Table("test", ("bleu",), (row("base", None), row("cipher", 31.0)), 0, ())
    assert answer(table) == "The baseline base has no scores on test yet, so nothing can be compared."
