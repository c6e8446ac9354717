"""The choice among hypotheses by what they say of each other."""

from __future__ import annotations

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from augury.core.errors import UserError
from augury.decoding.bayes_risk import choose, expected_utilities
from augury.decoding.settings import Utility

POOL = [
    "the cat sat",
    "the cat sat down",
    "the cat sat",
    "a dog ran off",
    "the cat is sitting down",
    "a",
    "",
]
texts = st.lists(st.text("ab c", min_size=1, max_size=8), min_size=1, max_size=6)


def test_the_expected_utility_of_a_tiny_pool_by_hand() -> None:
    """chrF of "ab" against "abcd": both of the orders 1 and 2 have precision 1, recall is 1/2 and
    1/3.

    F2 = 5 · 1 · 5/12 / (4 · 1 + 5/12) = 25/53; the other way round precision is 5/12 and recall 1:
    25/32. Orders that either is too short for are left out.
    """
    utilities = expected_utilities(["ab", "abcd", "xy", "ab"], "chrf", str)
    short, long = 100 * 25 / 53, 100 * 25 / 32
    assert utilities == pytest.approx(
        {"ab": (200 + short) / 4, "abcd": (100 + 2 * long) / 4, "xy": 100 / 4}, rel=1e-4
    )
    assert choose([["ab", "abcd", "xy", "ab"]], "chrf", "en") == ["abcd"]
    assert choose([["x y"], ["", ""]], "bleu", "en") == ["x y", ""]


@pytest.mark.parametrize("utility", ["chrf", "bleu"])
def test_the_utility_is_sacrebleus(utility: Utility) -> None:
    score = sacrebleu.sentence_chrf if utility == "chrf" else sacrebleu.sentence_bleu
    utilities = expected_utilities(POOL, utility, str)
    for text in POOL:
        expected = sum(score(text, [other]).score for other in POOL) / len(POOL)
        assert utilities[text] == pytest.approx(expected, abs=1e-6)


@given(texts, st.randoms())
def test_the_order_of_hypotheses_decides_ties_alone(pool: list[str], random: object) -> None:
    shuffled = sorted(pool, key=lambda _: random.random())  # type: ignore[attr-defined]
    utilities = expected_utilities(pool, "chrf", str)
    assert expected_utilities(shuffled, "chrf", str) == utilities
    tied = [text for text in shuffled if utilities[text] == max(utilities.values())]
    assert choose([shuffled], "chrf", "en") == [tied[0]]


def test_languages_without_spaces_need_their_tokeniser() -> None:
    with pytest.raises(UserError, match="--language"):
        choose([["猫", "狗"]], "bleu", "")
    assert choose([["猫在家", "猫在家里", "狗"]], "bleu", "zh") == ["猫在家"]
