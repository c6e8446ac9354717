from __future__ import annotations

from typing import Any

from augury.reporting.results import load
from augury.reporting.samples import Sample, draw

PAIRS = [(f"quelle {index}", f"reference {index}") for index in range(40)]


def test_every_sentence_has_what_each_system_made_of_it(results: Any) -> None:
    results.corpus(PAIRS)
    folders = [
        results.run(name, address * 8, 1, bleu=30.0, hypotheses=[f"{name} {index}" for index in range(40)])
        for name, address in (("base", "aa"), ("cipher", "bb"))
    ]
    samples = draw(load(folders), "test")
    assert samples is not None
    assert (samples.language, samples.expected, samples.expected_language) == ("de", "target", "en")
    lines = [sample.line for sample in samples.examples]
    assert len(set(lines)) == 10
    assert lines == sorted(lines)
    assert all(1 <= line <= 40 for line in lines)
    for sample in samples.examples:
        index = sample.line - 1
        made = {"base": f"base {index}", "cipher": f"cipher {index}"}
        assert sample == Sample(sample.line, {"source": f"quelle {index}"}, f"reference {index}", made)
    assert draw(load(folders[:1]), "test").examples[0].line == lines[0]  # type: ignore[union-attr]


def test_a_small_test_set_is_shown_whole(results: Any) -> None:
    results.corpus(PAIRS[:3])
    run = results.run("base", "aa" * 8, bleu=30.0, hypotheses=["a", "", "c\u2028d"])
    samples = draw(load([run]), "test")
    assert samples is not None
    assert [sample.hypotheses["base"] for sample in samples.examples] == ["a", "", "c\u2028d"]


def test_of_inferences_both_sentences_and_the_label_are_shown(results: Any) -> None:
    results.inferences([("a dog runs", "an animal runs", "entailment"), ("a dog runs", "it rains", "neutral")])
    run = results.run("base", "aa" * 8, bleu=30.0, hypotheses=["entailment", "contradiction"])
    samples = draw(load([run]), "test")
    assert samples is not None
    assert (samples.language, samples.expected) == ("sw", "label")
    second = {"premise": "a dog runs", "hypothesis": "it rains"}
    assert samples.examples[1] == Sample(2, second, "neutral", {"base": "contradiction"})


def test_without_translations_or_test_set_there_are_none(results: Any) -> None:
    assert draw(load([results.run("base", "aa" * 8, bleu=30.0, hypotheses=["a"])]), "test") is None
    results.corpus(PAIRS)
    assert draw(load([results.run("cipher", "bb" * 8, bleu=30.0)]), "test") is None
