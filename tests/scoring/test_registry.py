from __future__ import annotations

from importlib.util import find_spec

import pytest
import sacrebleu
import sacremoses  # type: ignore[import-untyped]

from augury.core.config import address
from augury.core.errors import UserError
from augury.core.plugin_files import sources
from augury.scoring.registry import (
    Metric,
    lower_is_better,
    metric,
    metric_class,
    names,
    record_name,
    reference,
    title,
)

COUNTED = [name for name in names("text") if not metric_class(name).needs_sources]


def value(of: Metric, hypotheses: list[str], references: list[str]) -> float:
    return of.value(of.statistics(hypotheses, references).sum(0).tolist())


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("bleu", sacrebleu.BLEU()),
        ("bleu:lower", sacrebleu.BLEU(lowercase=True)),
        ("bleu:char", sacrebleu.BLEU(tokenize="char")),
        ("multi_bleu_detok", sacrebleu.BLEU(smooth_method="none")),
        ("multi_bleu_detok:lower", sacrebleu.BLEU(smooth_method="none", lowercase=True)),
        ("chrf", sacrebleu.CHRF()),
        ("chrf:lower", sacrebleu.CHRF(lowercase=True)),
        ("chrf++", sacrebleu.CHRF(word_order=2)),
        ("chrf++:lower", sacrebleu.CHRF(word_order=2, lowercase=True)),
        ("ter", sacrebleu.TER()),
        ("ter:cased", sacrebleu.TER(case_sensitive=True)),
    ],
)
def test_value_and_signature_are_those_of_sacrebleu(name, library, corpus):
    ours = metric(name, "en")
    expected = library.corpus_score(corpus.better, [corpus.references]).score
    assert value(ours, corpus.better, corpus.references) == expected
    assert ours.signature == str(library.get_signature())


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
        ("bleu:char", "ja", sacrebleu.BLEU(tokenize="char")),
        ("chrf", "zh", sacrebleu.CHRF()),
        ("chrf++", "zh", sacrebleu.CHRF(word_order=2)),
        ("ter", "zh", sacrebleu.TER(normalized=True, asian_support=True)),
    ],
)
def test_value_and_signature_are_those_of_sacrebleu_without_spaces(name, language, library):
    hypotheses, references = UNSPACED[language]
    ours = metric(name, language)
    assert (
        value(ours, hypotheses, references) == library.corpus_score(hypotheses, [references]).score
    )
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
    hypotheses, references = (
        ["es ist ein gut-bekannter text ."],
        ["es ist ein gut-bekanntes buch ."],
    )
    assert value(metric(name, "de"), hypotheses, references) == pytest.approx(expected, abs=1e-4)


def test_punctuation_is_one_where_tensor2tensor_replaces_it():
    """By hand: with quotation marks of one form all tokens agree; else those two of ten do not."""
    hypotheses, references = (
        ["er sagt ”ja” und geht nach Hause ."],
        ['er sagt "ja" und geht nach Hause .'],
    )
    assert value(metric("compound_bleu:t2t", "de"), hypotheses, references) == pytest.approx(100)
    assert value(metric("compound_bleu", "de"), hypotheses, references) < 75


@pytest.mark.parametrize(
    "name", [name for name in names("text") if not metric_class(name).needs_sources]
)
def test_case_counts_as_the_option_says(name):
    hypotheses, references = ["THE CAT sat on the mat"], ["the cat sat on the mat"]
    score = value(metric(name, "en"), hypotheses, references)
    best = 0 if lower_is_better(name) else 100
    assert (score == pytest.approx(best)) == (":lower" in name or name == "ter")


def test_less_of_ter_is_better_and_its_title_is_no_case_of_its_own():
    assert {name.partition(":")[0] for name in names() if lower_is_better(name)} == {"ter", "wer"}
    assert lower_is_better("loss") and not lower_is_better("bleu")
    assert [title(name) for name in ("bleu", "chrf++", "ter:cased", "loss")] == [
        "BLEU",
        "chrF++",
        "TER (cased)",
        "loss",
    ]


def test_signatures_of_moses_metrics():
    versions = f"sacremoses:{sacremoses.__version__}|version:augury-0.1"
    assert (
        metric("multi_bleu", "en").signature
        == f"nrefs:1|case:mixed|tok:moses-en|smooth:none|{versions}"
    )
    assert metric("compound_bleu:lower", "de").signature == (
        f"nrefs:1|case:lc|tok:moses-de|smooth:none|split:compound|{versions}"
    )
    assert metric("compound_bleu:t2t", "de").signature == (
        f"nrefs:1|case:mixed|tok:moses-de|smooth:none|split:compound|punct:t2t|{versions}"
    )


def test_signature_tells_when_moses_does_not_know_the_language():
    assert "|tok:moses-tr|abbreviations:en|" in metric("multi_bleu", "tr").signature


@pytest.mark.parametrize("language", ["de_DE", "de-AT", "DE"])
def test_regions_of_a_language_are_tokenised_alike(language):
    assert metric("multi_bleu", language).signature == metric("multi_bleu", "de").signature


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("blue", r"did you mean 'bleu'\?"),
        ("chrf:lowercase", r"did you mean 'chrf:lower'\?"),
        ("ter:lower", "allowed: ter, ter:cased"),
    ],
)
def test_unknown_name(name, hint):
    with pytest.raises(UserError, match=f"unknown metric '{name}': {hint}"):
        metric(name, "en")


@pytest.mark.parametrize("suffix", ["", ":lower", ":lower-fixed", "-fixed"])
def test_a_metric_by_path_has_a_name_in_records_and_an_address_without_directory(suffix, tmp_path):
    references = []
    for directory in ("a", "b"):
        path = tmp_path / directory / "mine.py"
        path.parent.mkdir()
        path.write_text("METRICS = {}")
        references.append(reference(f"{path}{suffix}"))
        assert record_name(references[-1]) == record_name(f"{path}{suffix}") == f"mine{suffix}"
        assert [name.rpartition("/")[2] for name in sources(references)] == ["mine.py"]
    assert references[0] != references[1] and address(references[0]) == address(references[1])


@pytest.mark.skipif(find_spec("MeCab") is not None, reason="the Japanese tokeniser is installed")
def test_language_whose_tokeniser_is_missing():
    with pytest.raises(UserError, match=r"metric 'bleu' cannot tokenise 'ja': .*sacrebleu\[ja\]"):
        metric("bleu", "ja")


LATIN, CHINESE = (
    (["Ein Haus – gut."], ["Ein Haus, gut."]),
    (["这只猫 is here."], ["That cat is here."]),
)


@pytest.mark.parametrize("name", ["bleu", "chrf", "chrf++", "ter", "multi_bleu_detok"])
def test_a_language_that_makes_no_difference_is_not_asked_for(name):
    expected = metric(name, "de").statistics(*LATIN)
    assert metric(name).statistics(*LATIN).tolist() == expected.tolist()


@pytest.mark.parametrize("name", ["bleu", "multi_bleu_detok:lower"])
def test_a_language_is_asked_for_where_tokens_depend_on_it(name):
    assert (
        metric(name, "en").statistics(*CHINESE).tolist()
        != metric(name, "zh").statistics(*CHINESE).tolist()
    )
    with pytest.raises(UserError, match=rf"'{name}' tokenises Chinese.*contains '这'.*--language"):
        metric(name).statistics(*CHINESE)


def test_moses_always_asks_for_a_language():
    with pytest.raises(
        UserError, match="'compound_bleu' tokenises by the rules of a language: give it"
    ):
        metric("compound_bleu")
