"""The option that is closest to a word."""

from __future__ import annotations

import pytest

from augury.core.errors import nearest


@pytest.mark.parametrize(
    ("word", "close"),
    [("baeta", "beta"), ("fgm", "FGM 0.01"), ("FGM 0.1", "FGM 0.01"), ("x", ""), ("", "")],
)
def test_a_close_option_or_a_longer_one_is_proposed(word: str, close: str) -> None:
    hint = nearest(word, ["beta", "FGM 0.01", "R-Drop"])
    assert f"'{close}'" in hint if close else "did you mean" not in hint
