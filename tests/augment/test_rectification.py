"""Which label a generated example gets: the paper's strategies, as a truth table."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augury.augment.semantic import DROPPED, Rectify, rectify_labels

E, N, C = range(3)
STRATEGIES = ("teacher", "teacher_or_requested", "agreement", "requested")
TABLE = [
    # requested, teacher, its confidence: label by each strategy at threshold 0.8
    (E, E, 0.95, (E, E, E, E)),
    (E, N, 0.95, (N, N, DROPPED, E)),
    (E, E, 0.50, (DROPPED, E, E, E)),
    (E, N, 0.50, (DROPPED, E, DROPPED, E)),
    (E, N, 0.80, (DROPPED, E, DROPPED, E)),  # just the threshold is not confident
]


def teacher(label: int, confidence: float, kind: type = np.float64) -> np.ndarray:
    """Probabilities of which the largest is `confidence`, at `label`."""
    rest = (1 - confidence) / 2
    return np.array([[confidence if place == label else rest for place in range(3)]], kind)


@pytest.mark.parametrize(("requested", "label", "confidence", "expected"), TABLE)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_the_truth_table(
    requested: int, label: int, confidence: float, expected: tuple[int, ...], kind: type
) -> None:
    assert set(STRATEGIES) == set(get_args(Rectify))
    for rectify, wanted in zip(STRATEGIES, expected, strict=True):
        labels = rectify_labels(
            np.array([requested]), teacher(label, confidence, kind), rectify, 0.8
        )  # type: ignore[arg-type]
        assert labels.tolist() == [wanted], rectify


rows = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.floats(0.34, 1)), max_size=30)


@given(rows, st.floats(0, 1))
def test_strategies_agree_where_they_must(
    drawn: list[tuple[int, int, float]], threshold: float
) -> None:
    requested = np.array([row[0] for row in drawn], np.int64)
    probabilities = np.concatenate(
        [np.zeros((0, 3)), *(teacher(label, confidence) for _, label, confidence in drawn)]
    )
    labels = {
        name: rectify_labels(requested, probabilities, name, threshold)
        for name in get_args(Rectify)
    }
    likeliest = probabilities.argmax(1)
    assert (
        labels["teacher"][labels["teacher"] != DROPPED] == likeliest[labels["teacher"] != DROPPED]
    ).all()
    assert (labels["teacher_or_requested"] != DROPPED).all()
    confident = labels["teacher"] != DROPPED
    assert (
        labels["teacher_or_requested"] == np.where(confident, labels["teacher"], requested)
    ).all()
    assert ((labels["agreement"] == requested) | (labels["agreement"] == DROPPED)).all()
    assert (labels["requested"] == requested).all()
    assert (rectify_labels(requested, None, "requested", threshold) == requested).all()


@given(rows)
def test_at_threshold_0_the_teacher_keeps_all(drawn: list[tuple[int, int, float]]) -> None:
    requested = np.array([row[0] for row in drawn], np.int64)
    probabilities = np.concatenate(
        [np.zeros((0, 3)), *(teacher(label, confidence) for _, label, confidence in drawn)]
    )
    assert (
        rectify_labels(requested, probabilities, "teacher", 0.0) == probabilities.argmax(1)
    ).all()
    assert (rectify_labels(requested, probabilities, "teacher", 1.0) == DROPPED).all()
