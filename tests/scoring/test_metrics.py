from __future__ import annotations

from importlib.util import find_spec

import pytest
import sacrebleu
import sacremoses  # type: ignore[import-untyped]

from augury.errors import UserError
from augury.scoring.metrics import NAMES, Metric, metric


def value(of: Metric, hypotheses: list[str], references: list[str]) -> float:
    return of.value(of.statistics(hypotheses, references).sum(0).tolist())


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("bleu", sacrebleu.BLEU()),
        ("bleu:lower", sacrebleu.BLEU(lowercase=True)),
        ("multi_bleu_detok", sacrebleu.BLEU(smooth_method="none")),
        ("multi_bleu_detok:lower", sacrebleu.BLEU(smooth_method="none", lowercase=True)),
        ("chrf", sacrebleu.CHRF()),
        ("chrf:lower", sacrebleu.CHRF(lowercase=True)),
    ],
)
def test_value_and_signature_are_those_of_sacrebleu(name, library, corpus):
    ours = metric(name, "en")
    expected = library.corpus_score(corpus.better, [corpus.references]).score
    assert value(ours, corpus.better, corpus.references) == expected
    assert ours.signature == str(library.get_signature())


@pytest.mark.parametrize("name", ["bleu", "chrf"])
def test_value_and_signature_are_those_of_sacrebleu_in_chinese(name):
    hypotheses, references = ["这只猫坐在垫子上。", "今天 下雨。"], ["那只猫坐在垫子上面。", "今天下雨了。"]
    library = sacrebleu.BLEU(trg_lang="zh") if name == "bleu" else sacrebleu.CHRF()
    ours = metric(name, "zh")
    assert value(ours, hypotheses, references) == library.corpus_score(hypotheses, [references]).score
    assert ours.signature == str(library.get_signature())


@pytest.mark.parametrize("lowercase", [False, True])
def test_multi_bleu_is_unsmoothed_bleu_of_moses_tokens(lowercase, corpus):
    def tokenised(lines: list[str]) -> list[str]:
        moses = sacremoses.MosesTokenizer(lang="de")
        return [moses.tokenize(line, escape=True, return_str=True) for line in lines]

    library = sacrebleu.BLEU(tokenize="none", smooth_method="none", lowercase=lowercase, force=True)
    expected = library.corpus_score(tokenised(corpus.better), [tokenised(corpus.references)]).score
    ours = metric("multi_bleu:lower" if lowercase else "multi_bleu", "de")
    assert value(ours, corpus.better, corpus.references) == expected > 0


@pytest.mark.parametrize(("name", "expected"), [("multi_bleu", 0.0), ("compound_bleu", 54.1082)])
def test_compound_splitting(name, expected):
    hypotheses, references = ["es ist ein gut-bekannter text ."], ["es ist ein gut-bekanntes buch ."]
    assert value(metric(name, "de"), hypotheses, references) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("name", [name for name in NAMES if ":" not in name])
def test_case_counts_unless_lower(name):
    hypotheses, references = ["THE CAT sat on the mat"], ["the cat sat on the mat"]
    assert value(metric(name, "en"), hypotheses, references) < 100
    assert value(metric(f"{name}:lower", "en"), hypotheses, references) == pytest.approx(100)


def test_signatures_of_moses_metrics():
    versions = f"sacremoses:{sacremoses.__version__}|version:augury-0.1"
    assert metric("multi_bleu", "en").signature == f"nrefs:1|case:mixed|tok:moses-en|smooth:none|{versions}"
    assert metric("compound_bleu:lower", "de").signature == (
        f"nrefs:1|case:lc|tok:moses-de|smooth:none|split:compound|{versions}"
    )


def test_signature_tells_when_moses_does_not_know_the_language():
    assert "|tok:moses-tr|abbreviations:en|" in metric("multi_bleu", "tr").signature


@pytest.mark.parametrize("language", ["de_DE", "de-AT", "DE"])
def test_regions_of_a_language_are_tokenised_alike(language):
    assert metric("multi_bleu", language).signature == metric("multi_bleu", "de").signature


@pytest.mark.parametrize(("given", "hint"), [("blue", "bleu"), ("chrf:lowercase", "chrf:lower")])
def test_unknown_name(given, hint):
    with pytest.raises(UserError, match=rf"unknown metric '{given}': did you mean '{hint}'\?"):
        metric(given, "en")


@pytest.mark.skipif(find_spec("MeCab") is not None, reason="the Japanese tokeniser is installed")
def test_language_whose_tokeniser_is_missing():
    with pytest.raises(UserError, match=r"metric 'bleu' cannot tokenise 'ja': .*sacrebleu\[ja\]"):
        metric("bleu", "ja")
