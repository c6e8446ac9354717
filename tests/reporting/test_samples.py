from __future__ import annotations

from typing import Any

from augury.reporting.results import load
from augury.reporting.samples import Sample, draw

PAIRS = [(f"quelle {index}", f"reference {index}") for index in range(40)]


def test_every_sentence_has_what_each_system_made_of_it(results: Any) -> None:
    results.corpus(PAIRS)
    folders = [results.run(name, address * 8, 1, bleu=30.0, hypotheses=[f"{name} {index}" for index in range(40)])
               for name, address in (("base", "aa"), ("cipher", "bb"))]  # fmt: skip
    samples = draw(load(folders), "test")
    assert samples is not None
    assert (samples.source_language, samples.target_language) == ("de", "en")
    lines = [sample.line for sample in samples.sentences]
    assert len(set(lines)) == 10
    assert lines == sorted(lines)
    assert all(1 <= line <= 40 for line in lines)
    for sample in samples.sentences:
        index = sample.line - 1
        made = {"base": f"base {index}", "cipher": f"cipher {index}"}
        assert sample == Sample(sample.line, f"quelle {index}", f"reference {index}", made)
    assert draw(load(folders[:1]), "test").sentences[0].line == lines[0]  # type: ignore[union-attr]


def test_a_small_test_set_is_shown_whole(results: Any) -> None:
    results.corpus(PAIRS[:3])
    run = results.run("base", "aa" * 8, bleu=30.0, hypotheses=["a", "", "c\u2028d"])
    samples = draw(load([run]), "test")
    assert samples is not None
    assert [sample.hypotheses["base"] for sample in samples.sentences] == ["a", "", "c\u2028d"]


def test_without_translations_or_test_set_there_are_none(results: Any) -> None:
    assert draw(load([results.run("base", "aa" * 8, bleu=30.0, hypotheses=["a"])]), "test") is None
    results.corpus(PAIRS)
    assert draw(load([results.run("cipher", "bb" * 8, bleu=30.0)]), "test") is None
