from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from augury.reporting.rendering import environment

unbroken = environment().filters["unbroken"]


def test_numbers_stay_with_their_signs() -> None:
    parts = unbroken("at 1.9 × the time (95 % interval, p = 0.002)").split(" ")
    assert parts == [
        "at",
        "1.9\N{NO-BREAK SPACE}×",
        "the",
        "time",
        "(95\N{NO-BREAK SPACE}%",
        "interval,",
        "p\xa0=\xa00.002)",
    ]


@given(st.text("p= %×<3a"))
def test_only_spaces_change(text: str) -> None:
    assert unbroken(text).replace("\N{NO-BREAK SPACE}", " ") == text
