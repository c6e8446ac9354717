"""Scores of texts by name: against sacreBLEU and sacremoses, with intervals and several
references."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sacrebleu
import sacremoses  # type: ignore[import-untyped]

from augury.core.config import address, validate
from augury.core.errors import UserError
from augury.core.store import Store
from augury.scoring.metric import SegmentMetric
from augury.scoring.registry import (
    Metric,
    metric,
    metric_class,
    names,
    record_name,
    reference,
)
from augury.scoring.sacre import fix
from augury.scoring.scores import score
from augury.scoring.settings import TextScoring
from augury.scoring.stored import SCORES, read_statistics, write_statistics

HYPOTHESES = ["the cat sat on the mat", "there is a dog in the garden"]
REFERENCES = ["the cat is on the mat", "there is a dog in my garden"]
COUNTED = [name for name in names("text") if not metric_class(name).needs_sources]


def value(metric: Metric, hypotheses: list[str], references: list[str]) -> float:
    return metric.value(metric.statistics(hypotheses, references).sum(0).tolist())


UNSPACED = {
    "zh": (["这只猫坐在垫子上。", "今天 下雨。"], ["那只猫坐在垫子上面。", "今天下雨了。"]),
    "ja": (["犬が公園で走った。", "私は学生です。"], ["犬が公園で走っている。", "私は先生です。"]),
    "th": (["แมวกินปลาตัวใหญ่", "เขาไปโรงเรียนทุกวัน"], ["แมวกินปลาตัวเล็ก", "เขาไปโรงเรียนทุกเช้า"]),
    "my": (["ခွေးပြေးနေတယ်။", "သူကျောင်းသွားတယ်။"], ["ခွေးအိပ်နေတယ်။", "သူကျောင်းကလာတယ်။"]),
    "km": (["ឆ្កែកំពុងរត់", "គាត់ទៅសាលារៀន"], ["ឆ្កែកំពុងដេក", "គាត់មកពីសាលារៀន"]),
    "bo": (["ང་སློབ་གྲྭར་འགྲོ", "ཁྱི་རྒྱུག་གི་འདུག"], ["ང་སློབ་གྲྭ་ནས་ཡོང", "ཁྱི་ཉལ་གྱི་འདུག"]),
}
"""Hypotheses that are nearly right, and references, in languages without spaces."""


@pytest.mark.parametrize(
    ("name", "language", "library"),
    [
        ("bleu", "zh", sacrebleu.BLEU(trg_lang="zh")),
        ("bleu", "th", sacrebleu.BLEU(tokenize="char")),
        ("ter", "zh", sacrebleu.TER(normalized=True, asian_support=True)),
    ],
)
def test_value_and_signature_are_those_of_sacrebleu_without_spaces(name, language, library):
    hypotheses, references = UNSPACED[language]
    ours = metric(name, language)
    expected = library.corpus_score(hypotheses, [references]).score
    assert value(ours, hypotheses, references) == expected
    assert ours.signature == str(library.get_signature())


@pytest.mark.parametrize("name", COUNTED)
def test_words_are_not_what_lies_between_spaces(name):
    """Whatever language is stated, a metric counts or is refused."""
    for language, (hypotheses, references) in UNSPACED.items():
        for stated in ("", "de", "zh", "th", language):
            try:
                scorer = metric(name, stated)
                best, near = (
                    value(scorer, given, references) for given in (references, hypotheses)
                )
            except UserError:
                assert name.partition(":")[0] != "chrf" and name != "bleu:char"
                continue
            assert best == pytest.approx(0 if scorer.lower_is_better else 100)
            assert 5 < near < 95


def test_multi_bleu_is_unsmoothed_bleu_of_moses_tokens(corpus):
    moses = sacremoses.MosesTokenizer(lang="de")
    tokenised = [
        [moses.tokenize(line, escape=True, return_str=True) for line in side]
        for side in (corpus.better, corpus.references)
    ]
    library = sacrebleu.BLEU(tokenize="none", smooth_method="none", lowercase=True, force=True)
    expected = library.corpus_score(tokenised[0], [tokenised[1]]).score
    assert value(metric("multi_bleu:lower", "de"), corpus.better, corpus.references) == expected > 0


def test_compounds_and_punctuation_are_split_and_replaced_where_the_name_says_it():
    compound = ["es ist ein gut-bekannter text ."], ["es ist ein gut-bekanntes buch ."]
    assert value(metric("multi_bleu", "de"), *compound) == 0
    assert value(metric("compound_bleu", "de"), *compound) == pytest.approx(54.1082, abs=1e-4)
    quoted = ["er sagt ”ja” und geht nach Hause ."], ['er sagt "ja" und geht nach Hause .']
    assert value(metric("compound_bleu:t2t", "de"), *quoted) == pytest.approx(100)
    assert value(metric("compound_bleu", "de"), *quoted) < 75


def test_signatures_of_moses_metrics():
    assert "|tok:moses-tr|abbreviations:en|" in metric("multi_bleu", "tr").signature
    compound = metric("compound_bleu:lower", "de-AT").signature
    assert "|case:lc|tok:moses-de|smooth:none|split:compound|" in compound


def test_a_metric_by_path_has_a_name_in_records_and_an_address_without_directory(tmp_path):
    references = []
    for directory in ("a", "b"):
        path = tmp_path / directory / "mine.py"
        path.parent.mkdir()
        path.write_text("METRICS = {}")
        references.append(reference(f"{path}:lower"))
        assert record_name(references[-1]) == "mine:lower"
    assert references[0] != references[1] and address(references[0]) == address(references[1])


LATIN = ["Ein Haus – gut."], ["Ein Haus, gut."]
CHINESE = ["这只猫 is here."], ["That cat is here."]


def test_a_language_is_asked_for_only_where_tokens_depend_on_it():
    assert value(metric("bleu"), *LATIN) == value(metric("bleu", "de"), *LATIN)
    english, chinese = (metric("bleu", language).statistics(*CHINESE) for language in ("en", "zh"))
    assert english.tolist() != chinese.tolist()
    with pytest.raises(UserError, match="'bleu' tokenises Chinese.*contains '这'.*--language"):
        metric("bleu").statistics(*CHINESE)
    with pytest.raises(UserError, match="'compound_bleu' tokenises by the rules of a language"):
        metric("compound_bleu")


@pytest.mark.parametrize("name", ["bleu", "multi_bleu", "multi_bleu_detok", "compound_bleu:t2t"])
def test_golden_pair(name):
    """By hand: 100 (11/13 · 7/11 · 4/9 · 2/7)^(1/4)."""
    (result,) = score(HYPOTHESES, REFERENCES, language="en", metrics=[name])
    assert result.value == pytest.approx(51.1359, abs=1e-4)


def test_by_default_scores_are_bleu_and_chrf_with_samples_of_one_seed(corpus):
    results = score(corpus.better, corpus.references, language="en")
    assert [result.name for result in results] == ["bleu", "chrf"]
    assert results == score(corpus.better, corpus.references, language="en")
    signed = results[0].signature.replace("bs:1000|seed:12345|", "")
    assert signed == metric("bleu", "en").signature


def test_word_error_rate_takes_the_best_reference() -> None:
    """1 of 6 words, 1 of 7 and 2 of 3: the first reference twice, and the second."""
    hypotheses, first = [*HYPOTHESES, "so"], [*REFERENCES, "well then"]
    second = ["a cat sat down on a mat today", "a dog is in the garden", "so it is"]
    (result,) = score(hypotheses, first, metrics=["wer"], more_references=[second])
    assert result.value == pytest.approx(100 * (1 + 1 + 2) / (6 + 7 + 3))


def test_a_metric_of_segments_takes_the_mean() -> None:
    class Same(SegmentMetric):
        title, signature = "same", "same"

        def score(self, hypotheses: Any, references: Any, sources: Any) -> list[float]:
            return [float(h == r) for h, r in zip(hypotheses, references, strict=True)]

    counts = Same("same", "").statistics(["a", "b"], ["a", "b"], ["a", "c"])
    assert counts.tolist() == [[1.0, 1.0], [0.5, 1.0]]


def test_statistics_are_kept_and_read_again(tmp_path):
    run = Store(tmp_path).folder("runs", "a/seed-1")
    metrics = ["bleu", "chrf++", "ter:cased"]
    results = score(HYPOTHESES, REFERENCES, metrics=metrics)
    write_statistics(run, "test", results)
    run.write_record(SCORES, {}, ["counts/test.npz"])
    kept = read_statistics(run, "test")
    assert [*kept] == metrics and kept["bleu"].dtype == np.int64
    for result in results:
        counts = kept[result.name]
        assert counts.tolist() == result.statistics.tolist()
        assert metric_class(result.name).value(counts.sum(0).tolist()) == result.value
    before = run.sub("counts").read("test.npz")
    write_statistics(run, "test", results)
    assert run.sub("counts").read("test.npz") == before


def test_texts_that_do_not_fit_are_refused():
    with pytest.raises(UserError, match="hypotheses: 1 line, but 2 references"):
        score(["a"], ["a", "b"], language="en")
    with pytest.raises(UserError, match="nothing to score"):
        score([], [], language="en")
    with pytest.raises(UserError, match="references in set 2: 1 line, but 2 references"):
        score(HYPOTHESES, REFERENCES, language="en", more_references=[["a"]])


def test_section_refuses():
    with pytest.raises(UserError, match="unknown metric 'blue': did you mean 'bleu'"):
        validate(TextScoring, {"metrics": ["blue"]}, "test")
    with pytest.raises(UserError, match="metric 'accuracy' scores labels"):
        validate(TextScoring, {"metrics": ["accuracy"]}, "test")
    with pytest.raises(UserError, match="several metrics are called bleu"):
        validate(TextScoring, {"metrics": ["bleu", "chrf", "bleu"]}, "test")


GOLDEN = {
    'c\'est "super" !': "c’est «super» !",
    'il a dit "oui" et "non".': "il a dit «oui» et «non».",
    '5" de neige': "5« de neige",
}


def test_the_step_has_a_line_of_its_own_and_leaves_references_as_they_are() -> None:
    assert {line: fix(fix(line)) for line in GOLDEN} == GOLDEN
    hypotheses, references = list(GOLDEN), list(GOLDEN.values())
    metrics = ("bleu", "bleu:fixed")
    plain, fixed = score(hypotheses, references, language="fr", metrics=metrics)
    assert plain.value < fixed.value == pytest.approx(100)
    assert fixed.signature == f"{plain.signature}|punctuation:fr"


def test_there_are_rules_for_french_alone() -> None:
    with pytest.raises(UserError, match="fixes the punctuation of fr, not of"):
        metric("bleu:fixed", "de")
