from __future__ import annotations

from typing import Any

from augury.reporting.samples import Example, draw
from tests.run_folders import load

PAIRS = [(f"quelle {index}", f"reference {index}") for index in range(40)]


def test_every_sentence_has_what_each_system_made_of_it(results: Any) -> None:
    results.corpus(PAIRS)
    folders = [
        results.run(
            name, address * 8, 1, bleu=30.0, hypotheses=[f"{name} {index}" for index in range(40)]
        )
        for name, address in (("base", "aa"), ("cipher", "bb"))
    ]
    samples = draw(load(folders), "test")
    lines = [int(sample.heading.removeprefix("example ")) for sample in samples]
    assert len(set(lines)) == 10
    assert lines == sorted(lines)
    assert all(1 <= line <= 40 for line in lines)
    for line, sample in zip(lines, samples, strict=True):
        index = line - 1
        outputs = {"base": f"base {index}", "cipher": f"cipher {index}"}
        source, target = {"source": f"quelle {index}"}, {"target": f"reference {index}"}
        assert sample == Example(f"example {line}", source, target, outputs, "de", "en")
    assert draw(load(folders[:1]), "test")[0].heading == samples[0].heading


def test_of_inferences_both_sentences_and_the_label_are_shown(results: Any) -> None:
    results.corpus(
        [("a dog runs", "an animal runs", "entailment"), ("a dog runs", "it rains", "neutral")]
    )
    run = results.run("base", "aa" * 8, bleu=30.0, hypotheses=["entailment", "contradiction"])
    samples = draw(load([run]), "test")
    second = {"premise": "a dog runs", "hypothesis": "it rains"}
    assert samples[1] == Example(
        "example 2", second, {"label": "neutral"}, {"base": "contradiction"}, "sw", "sw"
    )


def test_an_endless_output_is_cut_and_one_as_long_as_the_reference_is_not() -> None:
    words = " ".join(map(str, range(1000)))
    example = Example("example 1", {"source": "x"}, {"target": "y"}, {"base": words, "cipher": "z"})
    assert example.short_outputs == {"base": f"{words[:400]}… [3,889 characters]", "cipher": "z"}
    alike = Example("example 1", {"source": "x"}, {"target": words}, {"base": words})
    assert alike.short_outputs == {"base": words}
