from __future__ import annotations

from typing import Any

from augury.reporting.samples import Example, draw
from tests.run_folders import load

PAIRS = [(f"quelle {index}", f"reference {index}") for index in range(40)]


def test_every_sentence_has_what_each_system_made_of_it(results: Any) -> None:
    results.corpus(PAIRS)
    folders = []
    for name in ("base", "ours"):
        outputs = [f"{name} {index}" for index in range(40)]
        folders.append(results.run(name, name * 4, bleu=30.0, hypotheses=outputs))
    samples = draw(load(folders), "test")
    lines = [int(sample.heading.removeprefix("example ")) for sample in samples]
    assert len(set(lines)) == 10 and lines == sorted(lines)
    for line, sample in zip(lines, samples, strict=True):
        index = line - 1
        outputs = {"base": f"base {index}", "ours": f"ours {index}"}
        source, target = {"source": f"quelle {index}"}, {"target": f"reference {index}"}
        assert sample == Example(f"example {line}", source, target, outputs, "de", "en")


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
