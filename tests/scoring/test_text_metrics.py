"""BLEU, chrF, TER and WER, counted from tokens: against sacreBLEU, rapidfuzz and by hand."""

from __future__ import annotations

from typing import Any

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from augury.core.errors import UserError
from augury.scoring import sacre
from augury.scoring.registry import metric
from augury.scoring.wer import align, word_recognition_rate

LETTERS = st.text("abCD -(.", max_size=20)
ROWS = st.lists(st.tuples(LETTERS, LETTERS, LETTERS), min_size=1, max_size=6)
LIBRARIES: dict[str, Any] = {
    "bleu": sacrebleu.BLEU(force=True),
    "bleu:lower": sacrebleu.BLEU(force=True, lowercase=True),
    "bleu:char": sacrebleu.BLEU(force=True, tokenize="char"),
    "multi_bleu_detok": sacrebleu.BLEU(force=True, smooth_method="none"),
    "chrf": sacrebleu.CHRF(),
    "chrf:lower": sacrebleu.CHRF(lowercase=True),
    "chrf++": sacrebleu.CHRF(word_order=2),
    "ter": sacrebleu.TER(),
    "ter:cased": sacrebleu.TER(case_sensitive=True),
}


@pytest.mark.parametrize("name", LIBRARIES)
@given(rows=ROWS)
@settings(max_examples=40)
def test_scores_and_signatures_are_those_of_sacrebleu_to_the_bit(
    name: str, rows: list[tuple[str, str, str]]
) -> None:
    """With one reference and with two; of what the private methods count, by a public one."""
    hypotheses, first, second = zip(*rows, strict=True)
    ours, library = metric(name, "en"), LIBRARIES[name]
    for sets in ([first, second], [first]):
        expected = library.corpus_score([*hypotheses], [[*lines] for lines in sets]).score
        assert ours.value(ours.statistics(hypotheses, *sets).sum(0)) == expected
    assert ours.signature == str(library.get_signature())


def test_compound_split() -> None:
    split = {"x-ray-based": "x ##AT##-##AT## ray ##AT##-##AT## based", "-a b- - ": "-a b- - "}
    split |= {"a-b-c": "a ##AT##-##AT## b-c"}
    assert {line: sacre.compound_split(line) for line in split} == split


def test_languages_written_like_chinese_are_tokenised_like_it() -> None:
    text = "我喜欢，很。"
    for language in ("yue", "zh"):
        assert sacre.Bleu("bleu", language).prepare(text).split() == [*text]
    with pytest.raises(UserError, match="give its language"):
        sacre.Bleu("bleu", "und").prepare("我喜欢")


def value(name: str, reference: str, hypothesis: str) -> float:
    measure = metric(name)
    return measure.value(measure.statistics([hypothesis], [reference]).sum(0).tolist())


def test_golden_word_error_rates() -> None:
    """The second is two substitutions, before a match with two other errors."""
    for reference, hypothesis, wer, wrr in (
        ("a b c d", "a x c d e", 50, 75),
        ("a b", "b a", 100, 0),
        ("the cat sat", "the cat", 100 / 3, 200 / 3),
        ("", "a", 100, 100),
        ("", "", 0, 100),
    ):
        assert value("wer", reference, hypothesis) == pytest.approx(wer)
        counts = align(reference.split(), hypothesis.split())
        assert word_recognition_rate(counts) == pytest.approx(wrr)


WORDS = st.lists(st.sampled_from("abc"), max_size=9)


@given(WORDS, WORDS)
def test_errors_are_the_edit_distance(reference: list[str], hypothesis: list[str]) -> None:
    aligned = align(reference, hypothesis)
    assert aligned.matches <= min(len(reference), len(hypothesis))
    assert aligned.errors == Levenshtein.distance(reference, hypothesis)
