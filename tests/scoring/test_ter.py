from __future__ import annotations

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.scoring import ter

SENTENCES = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=8)
CORPORA = st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=5)


def test_a_shift_is_one_edit():
    assert ter.statistics(("c", "d", "a", "b"), ("a", "b", "c", "d")) == [1, 4]
    assert ter.value([1, 4]) == 25.0


def test_it_may_exceed_100():
    assert ter.value(ter.statistics(("x", "y", "z"), ("a",))) == 300.0


@given(pairs=CORPORA)
@settings(max_examples=50, deadline=None)
def test_equals_sacrebleu(pairs: list[tuple[list[str], list[str]]]):
    rows = [ter.statistics(tuple(hypothesis), tuple(reference)) for hypothesis, reference in pairs]
    hypotheses, references = ([" ".join(pair[side]) for pair in pairs] for side in (0, 1))
    expected = sacrebleu.TER().corpus_score(hypotheses, [references]).score
    assert ter.value([sum(column) for column in zip(*rows, strict=True)]) == pytest.approx(
        expected, abs=0
    )
