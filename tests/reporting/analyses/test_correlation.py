"""What the page of encoder states says first."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from augury.analysis.correlation import Correlation, Correlations, LayerCorrelations
from augury.reporting.analyses.correlation import CorrelationAnalysis

NOISE = Correlation(0.4, 0.3, 0.4)


def answer(*values: float) -> str:
    pairs = [
        LayerCorrelations(
            (name, "plain"), (name, "rot-1"), ((Correlation(value, 0.0, 0.0),),), NOISE
        )
        for name, value in zip(("first", "second"), values, strict=False)
    ]
    results = Correlations(50, (8,), (), tuple(pairs), ())
    systems = cast(Any, [SimpleNamespace(test="news", rows=[0] * 50)])
    return CorrelationAnalysis(analysis="correlation").answer(results, systems)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.95, "are almost alike"),
        (0.85, "are much alike"),
        (0.5, "are somewhat alike"),
        (0.41, "are no more alike than noise"),
        (0.3, "are no more alike than noise"),
    ],
)
def test_a_value_is_read_between_noise_and_one(value: float, words: str) -> None:
    assert f"first plain and rot-1 {words} (PWCCA {value:.2f})" in answer(value)


def test_the_most_alike_are_first_and_noise_is_told() -> None:
    said = answer(0.5, 0.95)
    assert said.index("second plain") < said.index("first plain") and "noise has 0.40" in said
