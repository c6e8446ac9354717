"""What follows from what in the languages of statements, checked by hand."""

from __future__ import annotations

import pytest

from toy_languages.statements import Concept, Predicate, Statement, label

# Words: 4 and 5 are below 0, and 16 is below 4.
ALL_DOGS_RUN = Statement("all", Concept(4), (Predicate(4),))


@pytest.mark.parametrize(
    ("hypothesis", "expected"),
    [
        (Statement("all", Concept(16), (Predicate(0),)), "entailment"),
        (Statement("all", Concept(0), (Predicate(4),)), "neutral"),
        (Statement("most", Concept(0), (Predicate(4),)), "neutral"),
        (Statement("some", Concept(16), (Predicate(0),)), "entailment"),
        (Statement("no", Concept(0), (Predicate(4),)), "contradiction"),
        (Statement("some", Concept(16), (Predicate(0),), negated=True), "contradiction"),
        (Statement("some", Concept(0), (Predicate(4),), negated=True), "neutral"),
        (Statement("all", Concept(4, 2), (Predicate(4),)), "entailment"),
        (Statement("some", Concept(4), (Predicate(4), Predicate(1))), "neutral"),
    ],
)
def test_what_follows_from_all_dogs_run(hypothesis: Statement, expected: str) -> None:
    assert label(ALL_DOGS_RUN, hypothesis) == expected
