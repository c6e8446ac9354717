"""WER and WRR: golden values, ties by substitution, insertion, deletion.

Errors are the edit distance.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from augury.scoring.registry import metric
from augury.scoring.wer import Alignment, align


def score(name: str, reference: str, hypothesis: str) -> float:
    measure = metric(name)
    return measure.value(measure.statistics([hypothesis], [reference]).sum(0).tolist())


@pytest.mark.parametrize(
    ("reference", "hypothesis", "wer", "wrr"),
    [
        ("a b c d", "a x c d e", 50, 75),
        ("a b", "b a", 100, 0),
        ("a b c", "b c a", 200 / 3, 200 / 3),
        ("the cat sat", "the cat", 100 / 3, 200 / 3),
        ("a", "", 100, 0),
        ("", "a", 100, 100),
        ("", "", 0, 100),
    ],
)
def test_golden_values(reference: str, hypothesis: str, wer: float, wrr: float) -> None:
    assert score("wer", reference, hypothesis) == pytest.approx(wer)
    assert score("wrr", reference, hypothesis) == pytest.approx(wrr)


def test_counts_of_a_corpus_add_up() -> None:
    wer = metric("wer")
    sums = wer.statistics(["a x c d e", "b a"], ["a b c d", "a b"]).sum(0).tolist()
    assert sums == [4, 3, 6] and wer.value(sums) == pytest.approx(400 / 6)


def test_case_and_punctuation_count_unless_they_are_left_out() -> None:
    assert score("wer", "Hello, you", "hello you") == 100 / 2
    assert score("wer:lower", "Hello, you", "hello you") == 100 / 2
    assert score("wer:strip_punct", "Hello, you", "hello you") == 100 / 2
    assert score("wer:lower+strip_punct", "Hello, you", "hello you") == 0


words = st.lists(st.sampled_from("abc"), max_size=9)


@given(words, words)
def test_the_alignment_is_that_of_the_whole_lattice(
    reference: list[str], hypothesis: list[str]
) -> None:
    assert align(reference, hypothesis) == _traced(reference, hypothesis)


@given(words, words)
def test_errors_are_those_of_rapidfuzz(reference: list[str], hypothesis: list[str]) -> None:
    distance = pytest.importorskip("rapidfuzz.distance")
    assert align(reference, hypothesis).errors == distance.Levenshtein.distance(
        reference, hypothesis
    )


def _traced(reference: list[str], hypothesis: list[str]) -> Alignment:
    """The alignment that is traced from the end of a lattice of costs: substitution, then
    insertion, then deletion."""
    costs = [
        [column + row for column in range(len(hypothesis) + 1)] for row in range(len(reference) + 1)
    ]
    for row, word in enumerate(reference, start=1):
        for column, other in enumerate(hypothesis, start=1):
            changes = costs[row - 1][column - 1] + (word != other)
            costs[row][column] = min(
                changes, costs[row][column - 1] + 1, costs[row - 1][column] + 1
            )
    row, column, matches = len(reference), len(hypothesis), 0
    while row and column:
        differs, cost = reference[row - 1] != hypothesis[column - 1], costs[row][column]
        if cost == costs[row - 1][column - 1] + differs:
            row, column, matches = row - 1, column - 1, matches + (not differs)
        elif cost == costs[row][column - 1] + 1:
            column -= 1
        else:
            row -= 1
    return Alignment(costs[-1][-1], matches, len(reference))
