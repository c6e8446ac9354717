from __future__ import annotations

import math

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.core.errors import UserError
from augury.scoring import bleu

SENTENCES = st.lists(st.sampled_from(["a", "b", "c", "d", "E"]), max_size=9).map(" ".join)
CORPORA = st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=6)


def totals(pairs: list[tuple[str, str]]) -> list[int]:
    rows = [bleu.statistics(tuple(h.split()), tuple(r.split())) for h, r in pairs]
    return [sum(column) for column in zip(*rows, strict=True)]


def value(pairs: list[tuple[str, str]], smoothing: bleu.Smoothing) -> float:
    return bleu.value(totals(pairs), smoothing)


def test_counts_of_a_corpus():
    pairs = [
        ("the cat sat on the mat", "the cat is on the mat"),
        ("there is a dog in the garden", "there is a dog in my garden"),
    ]
    sums = totals(pairs)
    assert sums == [11, 7, 4, 2, 13, 11, 9, 7, 13]
    expected = 100 * (11 / 13 * 7 / 11 * 4 / 9 * 2 / 7) ** 0.25
    assert bleu.value(sums, "none") == pytest.approx(expected) == pytest.approx(51.1359, abs=1e-4)


def test_order_without_match():
    pair = [("the cat sat on a mat today", "a cat is on the mat now")]
    assert value(pair, "none") == 0.0
    assert value(pair, "exp") == pytest.approx(9.8204, abs=1e-4)


def test_brevity_penalty():
    pair = [("a b c d", "a b c d e")]
    assert value(pair, "none") == pytest.approx(100 * math.exp(1 - 5 / 4))


def test_longer_hypothesis_has_no_penalty():
    assert value([("a b c d e", "a b c d")], "none") == pytest.approx(
        100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25
    )


@pytest.mark.parametrize("smoothing", ["exp", "none"])
@given(pairs=CORPORA)
@settings(max_examples=100)
def test_equals_sacrebleu_on_tokens(smoothing: bleu.Smoothing, pairs: list[tuple[str, str]]):
    hypotheses, references = [h for h, _ in pairs], [r for _, r in pairs]
    library = sacrebleu.BLEU(tokenize="none", smooth_method=smoothing, force=True)
    assert value(pairs, smoothing) == library.corpus_score(hypotheses, [references]).score


@pytest.mark.parametrize(
    ("line", "split"),
    [
        ("rich-text format", "rich ##AT##-##AT## text format"),
        ("a-b-c", "a ##AT##-##AT## b-c"),
        ("x-ray-based", "x ##AT##-##AT## ray ##AT##-##AT## based"),
        (" - ", " - "),
        ("-a b-", "-a b-"),
        ("gut-bekannter", "gut ##AT##-##AT## bekannter"),
    ],
)
def test_compound_split(line: str, split: str):
    assert bleu.compound_split(line) == split


@pytest.mark.parametrize(
    ("line", "replaced"),
    [
        ("“Ja’…”", '"Ja\'..."'),
        ("„Ja“", '„Ja"'),  # the script has no rule for the opening German quotation mark
        ("30 ％ – «gut-bekannt»", "30 % – «gut-bekannt»"),
        ('"rich-text" format', '"rich-text" format'),
    ],
)
def test_punctuation_of_tensor2tensor(line: str, replaced: str):
    assert bleu.ascii_punctuation(line) == replaced


def test_moses_escapes():
    line = 'He said: "it\'s <5% & |x| [y]", e.g. Mr. B.'
    assert " ".join(bleu.moses(line, "en")) == (
        "He said : &quot; it &apos;s &lt; 5 % &amp; &#124; x &#124; &#91; y &#93; &quot; , e.g. "
        "Mr. B."
    )


@pytest.mark.parametrize(
    ("language", "tokens"),
    [
        ("en", ("l", "&apos;été", "am", "3", ".", "Mai")),
        ("fr", ("l&apos;", "été", "am", "3", ".", "Mai")),
        ("de", ("l", "&apos;", "été", "am", "3.", "Mai")),
    ],
)
def test_moses_follows_the_language(language: str, tokens: tuple[str, ...]):
    assert bleu.moses("l'été am 3. Mai", language) == tokens


def test_languages_written_like_chinese_are_tokenised_like_it() -> None:
    cantonese = bleu.Bleu("bleu", "yue")
    assert (
        cantonese.prepare("我喜欢，很。")
        == bleu.Bleu("bleu", "zh").prepare("我喜欢，很。")
        == tuple("我喜欢，很。")
    )
    with pytest.raises(UserError, match="give its language"):
        bleu.Bleu("bleu", "und").prepare("我喜欢")
