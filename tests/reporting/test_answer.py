"""The answer claims no more than the numbers carry."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from augury.reporting.answer import answer
from augury.reporting.comparison import ComparedSystem, Comparison
from augury.reporting.results import Estimate
from augury.scoring.significance import Difference

REAL, CHANCE, UNTESTED, ONE_SEED = "is real", "may be chance", "not tested", "one seed"
VERDICTS = (REAL, CHANCE, UNTESTED, ONE_SEED)


def row(
    name: str,
    value: float | None,
    low: float = 0.0,
    high: float = 0.0,
    p: float | None = None,
    seeds: int = 3,
    over: Any = "seeds and sentences",
) -> ComparedSystem:
    """A system against a baseline at BLEU 30; `p` is corrected already."""
    scores = (
        {}
        if value is None
        else {"bleu": Estimate(value, value - 1, value + 1, "tok:13a", 1000, tuple(range(seeds)))}
    )
    difference = None if value is None else value - 30.0
    tested = None if p is None else Difference(value - 30.0, low, high, p, over)
    return ComparedSystem(
        name, name * 4, tuple(range(seeds)), scores, difference, tested, p, None, 2.0
    )


def compared(*rivals: ComparedSystem, seeds: int = 3) -> str:
    base = replace(row("base", 30.0, seeds=seeds), difference=None)
    tests = sum(rival.tested is not None for rival in rivals)
    return answer(Comparison("test", ("bleu",), (base, *rivals), tests, ()))


rival = partial(row, "cipher")


@pytest.mark.parametrize(
    ("rivals", "seeds", "verdicts", "numbers"),
    [
        ([rival(32.5, 1.9, 3.1, 2e-4)], 3, {REAL}, ["2.5 BLEU more", "p < 0.001", "2.0 ×"]),
        ([rival(32.5, -0.4, 5.4, 0.08)], 3, {CHANCE}, ["-0.4 to +5.4", "p = 0.080"]),
        ([rival(32.5, 0.1, 4.9, 0.12), row("other", 31.0, -1, 3, 0.3)], 3, {CHANCE}, ["for 2 co"]),
        ([rival(29.6, -1.4, 0.6, 0.4)], 3, {CHANCE}, ["0.4 BLEU less"]),
        ([rival(25.0, -6.0, -4.0, 0.0)], 3, {REAL}, ["5.0 BLEU less"]),
        ([rival(30.04, -1.0, 1.1, 0.9)], 3, set(), ["scores the same", "-1.0 to +1.1"]),
        ([rival(32.5)], 3, {UNTESTED}, ["32.5 against 30.0"]),
        ([rival(32.5, 1.9, 3.1, 0.002, 1, "sentences")], 1, {ONE_SEED}, ["p = 0.002"]),
        ([rival(32.5, -0.1, 5.1, 0.06, 1, "sentences")], 1, {ONE_SEED}, ["p = 0.060"]),
        ([rival(32.5, 1.9, 3.1, 0.002, seeds=1)], 3, {REAL, ONE_SEED}, []),
        ([rival(32.5, seeds=1)], 3, {UNTESTED, ONE_SEED}, []),
        ([], 3, set(), ["30.0 [29.0, 31.0]"]),
        ([rival(None)], 3, set(), ["30.0 [29.0, 31.0]"]),
    ],
)
def test_verdict_and_numbers(
    rivals: list[ComparedSystem], seeds: int, verdicts: set[str], numbers: list[str]
) -> None:
    sentence = compared(*rivals, seeds=seeds)
    assert {verdict for verdict in VERDICTS if verdict in sentence} == verdicts
    assert [number for number in numbers if number not in sentence] == []


def test_nothing_is_real_before_it_is_confirmed() -> None:
    rivals = rival(32.5, 1.9, 3.1, 0.001), row("wild", 34.0, -3, 9, 0.3)
    base = replace(row("base", 30.0), difference=None)
    sentence = answer(Comparison("test", ("bleu",), (base, *rivals), 2, ()), "it was lucky")
    assert "wild scores 4.0" in sentence and "-3.0 to +9.0" in sentence
    assert "it was lucky" in sentence and REAL not in sentence


def test_what_is_real_comes_before_what_scores_most() -> None:
    sentence = compared(row("cipher", 32.5, 1.9, 3.1, 0.001), row("wild", 34.0, -1, 9, 0.3))
    assert "cipher scores" in sentence
