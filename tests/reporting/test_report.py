"""The value that every report is."""

from __future__ import annotations

import pytest

from augury.reporting.report import Report


@pytest.mark.parametrize(
    ("answer", "headline"),
    [
        ("A beats B; the difference is real.", ("A beats B", "the difference is real.")),
        ("A beats B, but by chance; C is out.", ("A beats B", "but by chance; C is out.")),
        ("A, the first, beats B.", ("A, the first, beats B.", "")),
    ],
)
def test_the_headline_is_the_first_clause(answer: str, headline: tuple[str, str]) -> None:
    assert Report(title="title", answer=answer).headline == headline
