from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.core.words import is_punctuation, reordered, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Well, don't stop (now)!", ["Well", ",", "don't", "stop", "(", "now", ")", "!"]),
        ("um 10:30 für 1.234,56 €.", ["um", "10:30", "für", "1.234,56", "€", "."]),
        (
            "a -- b -5 end.Next dogs' 'x'",
            ["a", "-", "-", "b", "-", "5", "end", ".", "Next", "dogs", "'", "'", "x", "'"],
        ),
        ("हिन्दी में ❤️ Zu\u0308rich", ["हिन्दी", "में", "❤️", "Zu\u0308rich"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("ja👩\u200d💻🇩🇪🇫🇷 👍🏽!", ["ja", "👩\u200d💻", "🇩🇪", "🇫🇷", "👍🏽", "!"]),
        (" \u00a0\n", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_punctuation_has_neither_letters_nor_digits() -> None:
    marks = [word for word in words('"3 a-b _ ... ₂ € –') if is_punctuation(word)]
    assert marks == ['"', "_", ".", ".", ".", "€", "–"]


@settings(max_examples=200, deadline=None)
@given(
    st.text(
        st.sampled_from("aÄ1 \n\u00a0-'’.,:(\u0308❤\u200d")
        | st.characters(exclude_categories=["Cs"])
    )
)
def test_a_text_in_its_own_order_is_itself(text: str) -> None:
    found = words(text)
    assert reordered(text, range(len(found))) == text
    assert all(word and not any(map(str.isspace, word)) for word in found)


@pytest.mark.parametrize(
    ("text", "order", "expected"),
    [
        ("in (20%), he said", [6, 7, 0, 1, 2, 3, 4, 5], "he said in (20%),"),
        ("""'(no)'. well""", [2, 5, 6, 0, 1, 3, 4], "no. well '()'"),
        (" two  wide \n", [1, 0], " wide two \n"),
    ],
)
def test_punctuation_stays_where_it_was_written_on(
    text: str, order: list[int], expected: str
) -> None:
    assert reordered(text, order) == expected
