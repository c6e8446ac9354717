"""What takes no model: golden values, and that the best of all constants is found."""

from __future__ import annotations

import pytest

from augury.scoring.registry import metric
from augury.scoring.scores import score
from augury.scoring.trivial import best_trivial

REFERENCES = ["the cat sat on the mat", "a dog ran", "the cat sat on the hat", "birds sing at dawn"]


def value(name: str, hypotheses: list[str], references: list[str]) -> float:
    (measured,) = score(hypotheses, references, metrics=[name], language="en", samples=2)
    return measured.value


def test_for_labels_it_is_the_most_frequent_one() -> None:
    trivial = best_trivial(metric("accuracy"), ["a", "b", "b", "c", "b"])
    assert trivial is not None
    assert trivial.value == pytest.approx(60.0) and trivial.output == "'b' for every example"


@pytest.mark.parametrize("name", ["bleu", "chrf", "wer"])
def test_for_text_it_is_the_best_reference_for_every_example(name: str) -> None:
    trivial = best_trivial(metric(name, "en"), REFERENCES)
    constants = [value(name, [line] * len(REFERENCES), REFERENCES) for line in REFERENCES]
    best = min(constants) if name == "wer" else max(constants)
    assert trivial is not None and trivial.value == pytest.approx(best)


def test_the_source_copied_counts_where_it_is_better() -> None:
    sources = [*REFERENCES[:3], "Vögel singen"]
    trivial = best_trivial(metric("bleu", "en"), REFERENCES, sources)
    assert trivial is not None and trivial.output == "the source copied"
    assert trivial.value == pytest.approx(value("bleu", sources, REFERENCES))
