"""The choice among hypotheses by what they say of each other."""

from __future__ import annotations

import pytest
import sacrebleu

from augury.decoding.bayes_risk import choose, expected_utilities

POOL = ["the cat sat", "the cat sat down", "the cat sat", "a dog ran off", "a", ""]


def test_the_expected_utility_of_a_tiny_pool_by_hand() -> None:
    """chrF of "ab" against "abcd": both of the orders 1 and 2 have precision 1, recall is 1/2 and
    1/3.

    F2 = 5 · 1 · 5/12 / (4 · 1 + 5/12) = 25/53; the other way round precision is 5/12 and recall 1:
    25/32. Orders that either is too short for are left out.
    """
    utilities = expected_utilities(["ab", "abcd", "xy", "ab"])
    short, long = 100 * 25 / 53, 100 * 25 / 32
    assert utilities == pytest.approx(
        {"ab": (200 + short) / 4, "abcd": (100 + 2 * long) / 4, "xy": 100 / 4}, rel=1e-4
    )
    assert choose([["ab", "abcd", "xy", "ab"], ["x y"], ["", ""]]) == ["abcd", "x y", ""]


def test_the_utility_is_sacrebleus() -> None:
    utilities = expected_utilities(POOL)
    for text in POOL:
        scores = [sacrebleu.sentence_chrf(text, [other]).score for other in POOL]
        assert utilities[text] == pytest.approx(sum(scores) / len(POOL), abs=1e-6)
