from __future__ import annotations

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.scoring import chrf

SENTENCES = st.text("abC -(", max_size=10)
CORPORA = st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=5)


def value(pairs: list[tuple[str, str]], words: int = 0) -> float:
    rows = [chrf.statistics(h, r, words) for h, r in pairs]
    return chrf.value([sum(column) for column in zip(*rows, strict=True)])


def test_by_hand():
    # Orders 1 and 2 are present: precision (2/2 + 1/1) / 2, recall (2/3 + 1/2) / 2; order 3 is not.
    assert value([("ab", "abc")]) == pytest.approx(100 * 5 * 1 * (7 / 12) / (4 * 1 + 7 / 12))


def test_bounds():
    assert value([("the cat", "the cat")]) == 100.0
    assert value([("xyz", "abc")]) == 0.0
    assert value([("", "abc")]) == 0.0


@pytest.mark.parametrize("words", [0, 2])
@given(pairs=CORPORA)
@settings(max_examples=100)
def test_equals_sacrebleu(pairs: list[tuple[str, str]], words: int):
    hypotheses, references = [h for h, _ in pairs], [r for _, r in pairs]
    library = sacrebleu.CHRF(word_order=words)
    assert value(pairs, words) == library.corpus_score(hypotheses, [references]).score
