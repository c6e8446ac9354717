"""BLEU, chrF, TER and WER, counted from tokens: against sacreBLEU, rapidfuzz and by hand."""

from __future__ import annotations

from typing import Any

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from augury.core.errors import UserError
from augury.scoring import bleu, chrf, ter
from augury.scoring.ngrams import matches, pairwise_matches
from augury.scoring.registry import metric
from augury.scoring.wer import Alignment, align

SENTENCES = st.lists(st.sampled_from(["a", "b", "c", "d", "E"]), max_size=9).map(" ".join)
PAIRS = st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=6)
LETTERS = st.text("abC -(", max_size=10)
LETTER_PAIRS = st.lists(st.tuples(LETTERS, LETTERS), min_size=1, max_size=5)

Pairs = list[tuple[str, str]]


def totals(rows: list[list[int]]) -> list[int]:
    return [sum(column) for column in zip(*rows, strict=True)]


def by_sacrebleu(library: Any, pairs: Pairs) -> float:
    score: float = library.corpus_score([h for h, _ in pairs], [[r for _, r in pairs]]).score
    return score


@pytest.mark.parametrize("smoothing", ["exp", "none"])
@given(pairs=PAIRS)
def test_bleu_is_that_of_sacrebleu(smoothing: bleu.Smoothing, pairs: Pairs) -> None:
    sums = totals([bleu.statistics(tuple(h.split()), tuple(r.split())) for h, r in pairs])
    library = sacrebleu.BLEU(tokenize="none", smooth_method=smoothing, force=True)
    assert bleu.value(sums, smoothing) == by_sacrebleu(library, pairs)


@pytest.mark.parametrize("words", [0, 2])
@given(pairs=LETTER_PAIRS)
def test_chrf_is_that_of_sacrebleu(words: int, pairs: Pairs) -> None:
    sums = totals(
        [chrf.statistics(hypothesis, reference, words) for hypothesis, reference in pairs]
    )
    assert chrf.value(sums) == by_sacrebleu(sacrebleu.CHRF(word_order=words), pairs)


@given(pairs=PAIRS)
@settings(max_examples=50)
def test_ter_is_that_of_sacrebleu(pairs: Pairs) -> None:
    sums = totals([ter.statistics(tuple(h.split()), tuple(r.split())) for h, r in pairs])
    library = sacrebleu.TER(case_sensitive=True)
    assert ter.value(sums) == pytest.approx(by_sacrebleu(library, pairs), abs=0)


@given(st.lists(st.text("ab", max_size=8), min_size=1, max_size=4))
def test_all_pairs_are_counted_as_one_by_one(texts: list[str]) -> None:
    totals_of, matched = pairwise_matches(texts, 3)
    of_chrf = chrf.pairwise_statistics(texts)
    of_bleu = bleu.pairwise_statistics([tuple(text) for text in texts])
    for row, hypothesis in enumerate(texts):
        for column, reference in enumerate(texts):
            counts = (totals_of[row], totals_of[column], matched[row, column])
            assert tuple(map(list, counts)) == matches(hypothesis, reference, 3)
            assert of_chrf[row, column].tolist() == chrf.statistics(hypothesis, reference)
            words = tuple(hypothesis), tuple(reference)
            assert of_bleu[row, column].tolist() == bleu.statistics(*words)


@pytest.mark.parametrize(
    ("line", "split"),
    [
        ("x-ray-based", "x ##AT##-##AT## ray ##AT##-##AT## based"),
        ("a-b-c", "a ##AT##-##AT## b-c"),
        ("-a b- - ", "-a b- - "),
        ("gut-bekannter", "gut ##AT##-##AT## bekannter"),
    ],
)
def test_compound_split(line: str, split: str) -> None:
    assert bleu.compound_split(line) == split


@pytest.mark.parametrize(
    ("line", "replaced"),
    [
        ("“Ja’…”", '"Ja\'..."'),
        ("„Ja“", '„Ja"'),  # the script has no rule for the opening German quotation mark
        ("30 ％ – «gut-bekannt»", "30 % – «gut-bekannt»"),
    ],
)
def test_punctuation_of_tensor2tensor(line: str, replaced: str) -> None:
    assert bleu.ascii_punctuation(line) == replaced


@pytest.mark.parametrize(
    ("language", "tokens"),
    [
        ("en", ("l", "&apos;été", "am", "3", ".", "Mai")),
        ("fr", ("l&apos;", "été", "am", "3", ".", "Mai")),
        ("de", ("l", "&apos;", "été", "am", "3.", "Mai")),
    ],
)
def test_moses_follows_the_language(language: str, tokens: tuple[str, ...]) -> None:
    assert bleu.moses("l'été am 3. Mai", language) == tokens


def test_languages_written_like_chinese_are_tokenised_like_it() -> None:
    text = "我喜欢，很。"
    for language in ("yue", "zh"):
        assert bleu.Bleu("bleu", language).prepare(text) == tuple(text)
    with pytest.raises(UserError, match="give its language"):
        bleu.Bleu("bleu", "und").prepare("我喜欢")


def value(name: str, reference: str, hypothesis: str) -> float:
    measure = metric(name)
    return measure.value(measure.statistics([hypothesis], [reference]).sum(0).tolist())


@pytest.mark.parametrize(
    ("reference", "hypothesis", "wer", "wrr"),
    [
        ("a b c d", "a x c d e", 50, 75),
        ("a b", "b a", 100, 0),
        ("the cat sat", "the cat", 100 / 3, 200 / 3),
        ("", "a", 100, 100),
        ("", "", 0, 100),
    ],
)
def test_golden_word_error_rates(reference: str, hypothesis: str, wer: float, wrr: float) -> None:
    assert value("wer", reference, hypothesis) == pytest.approx(wer)
    assert value("wrr", reference, hypothesis) == pytest.approx(wrr)


def test_case_and_punctuation_count_unless_they_are_left_out() -> None:
    for name in ("wer", "wer:lower", "wer:strip_punct"):
        assert value(name, "Hello, you", "hello you") == 100 / 2
    assert value("wer:lower+strip_punct", "Hello, you", "hello you") == 0


WORDS = st.lists(st.sampled_from("abc"), max_size=9)


@given(WORDS, WORDS)
def test_the_alignment_is_that_of_the_whole_lattice(
    reference: list[str], hypothesis: list[str]
) -> None:
    aligned = align(reference, hypothesis)
    assert aligned == _traced(reference, hypothesis)
    assert aligned.errors == Levenshtein.distance(reference, hypothesis)


def _traced(reference: list[str], hypothesis: list[str]) -> Alignment:
    """The alignment that is traced from the end of a lattice of costs: substitution, then
    insertion, then deletion."""
    columns = range(len(hypothesis) + 1)
    costs = [[column + row for column in columns] for row in range(len(reference) + 1)]
    for row, word in enumerate(reference, start=1):
        for column, other in enumerate(hypothesis, start=1):
            changes = costs[row - 1][column - 1] + (word != other)
            costs[row][column] = min(
                changes, costs[row][column - 1] + 1, costs[row - 1][column] + 1
            )
    row, column, matched = len(reference), len(hypothesis), 0
    while row and column:
        differs, cost = reference[row - 1] != hypothesis[column - 1], costs[row][column]
        if cost == costs[row - 1][column - 1] + differs:
            row, column, matched = row - 1, column - 1, matched + (not differs)
        elif cost == costs[row][column - 1] + 1:
            column -= 1
        else:
            row -= 1
    return Alignment(costs[-1][-1], matched, len(reference))
