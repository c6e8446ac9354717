"""Choices of settings have short names."""

from __future__ import annotations

from typing import Any

import pytest

from augury.core.naming import counted, title


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"regime.beta": 5, "regime.tau": 0.5}, "beta=5, tau=0.5"),
        ({"augment.0.keys": [1, 2]}, "keys=1+2"),
        ({"augment.0.keys": []}, "keys=none"),
        ({"vocabulary.size": 3, "model.size": 4}, "vocabulary.size=3, model.size=4"),
        ({"regime": {"name": "multi_source", "equation": 2}}, "regime=multi_source(equation=2)"),
        ({"augment": [{"operator": "cipher", "keys": [1, 2]}]}, "augment=cipher(keys=1+2)"),
        ({"training.learning_rate": 0.0005}, "learning_rate=0.0005"),
    ],
)
def test_titles(settings: dict[str, Any], expected: str) -> None:
    assert title(settings) == expected


def test_counts_agree_with_their_nouns() -> None:
    assert [counted(number, "row") for number in (0, 1, 1234)] == ["0 rows", "1 row", "1,234 rows"]
    assert counted(2, "hypothesis", "hypotheses") == "2 hypotheses"
