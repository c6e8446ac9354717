"""Compare what two searches have found."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from augury.decoding.search import Hypothesis


def assert_same(hypotheses: Sequence[Hypothesis], expected: Sequence[Hypothesis]) -> None:
    """The same scores and the same hypotheses.

    Where floats tie, one sentence in fifty may have the other.
    """
    assert len(hypotheses) == len(expected)
    for hypothesis, other in zip(hypotheses, expected, strict=True):
        assert hypothesis.score == pytest.approx(other.score, abs=1e-4)
    differing = sum(
        hypothesis.ids != other.ids for hypothesis, other in zip(hypotheses, expected, strict=True)
    )
    assert differing <= max(1, len(expected) // 50)
