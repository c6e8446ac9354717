"""Choices of settings have short names."""

from __future__ import annotations

from typing import Any

import pytest

from augury.core.naming import title


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
