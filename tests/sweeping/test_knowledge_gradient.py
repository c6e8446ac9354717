"""What scores say about the means of configurations, and what a further one is worth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from augury.sweeping.knowledge_gradient import Belief, belief

SEEDS = [1, 2, 3]
SCORES = {
    "baseline": {1: 20.0, 2: 20.2},
    "a": {1: 22.0, 2: 21.8},
    "b": {1: 20.1},
    "a + b": {1: 24.0},
}
ROWS = {"baseline": (), "a": ("a",), "b": ("b",), "a + b": ("a", "b")}


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
