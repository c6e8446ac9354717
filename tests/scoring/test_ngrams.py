from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from augury.scoring import bleu, chrf
from augury.scoring.ngrams import matches, pairwise_matches

TEXT = st.text("ab", max_size=8)


def test_words():
    hypothesis, reference = ("the", "the", "cat", "sat"), ("the", "cat", "sat", "sat", "down")
    assert matches(hypothesis, reference, 4) == ([4, 3, 2, 1], [5, 4, 3, 2], [3, 2, 1, 0])


def test_characters():
    assert matches("aaab", "aab", 3) == ([4, 3, 2], [3, 2, 1], [3, 2, 1])


def test_nothing():
    assert matches("", "a", 2) == ([0, 0], [1, 0], [0, 0])


@given(TEXT, TEXT)
def test_matches_are_symmetric_and_at_most_either_side(hypothesis: str, reference: str):
    left, right, both = matches(hypothesis, reference, 4)
    assert matches(reference, hypothesis, 4) == (right, left, both)
    assert all(0 <= b <= min(h, r) for h, r, b in zip(left, right, both, strict=True))


@given(TEXT)
def test_a_sequence_matches_itself_wholly(text: str):
    left, right, both = matches(text, text, 4)
    assert left == right == both


@given(st.lists(TEXT, min_size=1, max_size=4))
def test_pairs_are_counted_as_one_by_one(texts: list[str]):
    totals, matched = pairwise_matches(texts, 3)
    of_chrf, of_bleu = (
        chrf.pairwise_statistics(texts),
        bleu.pairwise_statistics([tuple(text) for text in texts]),
    )
    for row, hypothesis in enumerate(texts):
        for column, reference in enumerate(texts):
            counts = (totals[row].tolist(), totals[column].tolist(), matched[row, column].tolist())
            assert counts == matches(hypothesis, reference, 3)
            assert of_chrf[row, column].tolist() == chrf.statistics(hypothesis, reference)
            assert of_bleu[row, column].tolist() == bleu.statistics(
                tuple(hypothesis), tuple(reference)
            )
