"""Seeds where they improve the choice."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from augury.sweeping.knowledge_gradient import Belief, KnowledgeGradient, belief
from augury.sweeping.race import Work

SEEDS = [1, 2, 3]
SCORES = {
    "baseline": {1: 20.0, 2: 20.2},
    "a": {1: 22.0, 2: 21.8},
    "b": {1: 20.1},
    "a + b": {1: 24.0},
}
ROWS = {"baseline": (), "a": ("a",), "b": ("b",), "a + b": ("a", "b")}


def run(race: KnowledgeGradient, scores: dict[str, list[float]]) -> dict[str, int]:
    """Return how many seeds each configuration was trained with."""
    trained: dict[str, int] = {}
    while work := race.work():
        name, seed, rung = work[0]
        trained[name] = trained.get(name, 0) + 1
        race.tell(name, seed, rung, scores[name][seed - 1])
    return trained


def test_the_gain_of_one_of_two_is_that_of_the_closed_form() -> None:
    """Independent means 0 and -1 with a variance of 1 each: Frazier et al., equation 3.1."""
    known = Belief(["a", "b"], [1], np.array([0.0, -1.0, 0.0]), np.diag([1.0, 1.0, 0.0]), 1.0)
    spread = math.sqrt(0.5)
    expected = spread * norm.pdf(1 / spread) - norm.cdf(-1 / spread)
    assert [known.gain(name, 1) for name in "ab"] == pytest.approx([expected] * 2, abs=0.01)


def test_a_mean_of_one_seed_is_drawn_to_its_relatives() -> None:
    known = belief(SCORES, ROWS, SEEDS)
    assert known.mean_of("a + b") < 24.0
    assert known.mean_of("baseline") == pytest.approx(20.1, abs=0.1)
    assert known.deviation_of("a") < known.deviation_of("a + b")


def test_few_seeds_are_judged_by_what_others_say_about_them() -> None:
    """The first seed is good for all, by 6; `late` has it alone, and is no better than `a`."""
    scores = {
        "baseline": {1: 83.0, 2: 77.0, 3: 77.2},
        "a": {1: 86.1, 2: 80.0, 3: 80.0},
        "b": {1: 84.0, 2: 78.1},
        "late": {1: 86.2},
    }
    rows = {"baseline": (), "a": ("a",), "b": ("b",), "late": ("late",)}
    known = belief(scores, rows, SEEDS)
    assert known.mean_of("late") == pytest.approx(known.mean_of("a"), abs=1)
    assert known.mean_of("late") < 84


@given(st.floats(0.001, 1000), st.floats(-1000, 1000))
def test_a_belief_is_of_no_unit(factor: float, shift: float) -> None:
    moved = {
        name: {seed: factor * score + shift for seed, score in of.items()}
        for name, of in SCORES.items()
    }
    known, other = belief(SCORES, ROWS, SEEDS), belief(moved, ROWS, SEEDS)
    for name in SCORES:
        mean = factor * known.mean_of(name) + shift
        assert other.mean_of(name) == pytest.approx(mean, rel=1e-6, abs=1e-6)
        gain = factor * known.gain(name, 3)
        assert other.gain(name, 3) == pytest.approx(gain, rel=1e-3, abs=1e-9 * factor)


def test_seeds_go_to_those_that_may_be_the_best() -> None:
    scores = {
        "baseline": [20.0, 20.3, 19.8],
        "close": [22.1, 22.1, 22.0],
        "closer": [22.0, 22.2, 22.4],
        "far": [15.0, 15.1, 14.8],
    }
    race = KnowledgeGradient("baseline", ["far", "close", "closer"], SEEDS, mode="max")
    trained = run(race, scores)
    assert trained["close"] == trained["closer"] == 3 and trained["far"] == 1 + 1  # a pilot
    assert race.best == "closer"


def test_the_reference_is_chosen_where_nothing_is_better() -> None:
    scores = {"baseline": [20.0, 20.3, 19.8], "a": [15.1, 14.9, 15.0], "b": [12.1, 12.0, 12.4]}
    race = KnowledgeGradient("baseline", ["a", "b"], SEEDS, mode="max")
    run(race, scores)
    assert race.best == "baseline"


def test_a_loss_is_chosen_low() -> None:
    race = KnowledgeGradient("baseline", ["a"], SEEDS, mode="min")
    run(race, {"baseline": [3.0, 3.1, 2.9], "a": [2.0, 2.2, 1.9]})
    assert race.best == "a" and race.standings()["a"] == pytest.approx(2.03, abs=0.1)


def test_one_seed_chooses_the_best_score() -> None:
    race = KnowledgeGradient("baseline", ["a", "b"], [1], mode="max")
    assert run(race, {"baseline": [1.0], "a": [2.0], "b": [3.0]}) == {"baseline": 1, "a": 1, "b": 1}
    assert race.best == "b"


def test_one_with_a_failed_seed_is_never_chosen() -> None:
    race = KnowledgeGradient("baseline", ["a", "b"], SEEDS, mode="max")
    race.fail("a", 2)
    run(race, {"baseline": [1.0, 1.1, 1.0], "a": [9.0, 9.0, 9.0], "b": [3.0, 3.2, 3.1]})
    assert race.best == "b" and race.eliminated == {"a"}


def test_a_race_in_which_all_fail_ends_without_a_choice() -> None:
    race = KnowledgeGradient("baseline", ["a"], SEEDS, mode="max")
    for name in ("baseline", "a"):
        race.fail(name, 1)
    assert race.finished and race.best is None and not race.work()


def test_decisions_do_not_depend_on_the_order_of_values() -> None:
    scores = {"baseline": [20.0, 20.3, 19.8], "a": [22.1, 21.9, 22.3], "b": [22.0, 22.4, 22.2]}
    values = [
        (Work(name, seed, 0), score)
        for name, of in scores.items()
        for seed, score in zip(SEEDS, of, strict=True)
    ]
    reference = KnowledgeGradient("baseline", ["a", "b"], SEEDS, mode="max")
    run(reference, scores)
    for order in itertools.islice(itertools.permutations(values), 0, None, 9973):
        race = KnowledgeGradient("baseline", ["a", "b"], SEEDS, mode="max")
        for work, score in order:
            race.tell(*work, score)
        assert race.decisions == reference.decisions


def test_equal_scores_are_chosen_among() -> None:
    race = KnowledgeGradient("baseline", ["a"], SEEDS, mode="max")
    run(race, {"baseline": [50.0] * 3, "a": [50.0] * 3})
    assert race.finished and race.best in ("baseline", "a")
