"""Accuracy and macro F1 of labels, by hand, and what constants score."""

from __future__ import annotations

import numpy as np
import pytest

from augury.scoring.registry import metric
from augury.scoring.scores import score
from augury.scoring.significance import clusters, mean_over
from augury.scoring.trivial import best_trivial, imbalance_warning

REFERENCES = ["a", "a", "a", "b", "b", "c"]
PREDICTED = ["a", "a", "b", "b", "c", "c "]


def macro_f1(predicted: list[str], references: list[str]) -> float:
    scorer = metric("macro_f1")
    return float(scorer.value(scorer.statistics(predicted, references).sum(0)))


def test_golden_values() -> None:
    """F1: a 2·2/(2+3), b 2·1/(2+2), c 2·1/(2+1)."""
    accuracy, f1 = score(PREDICTED, REFERENCES, metrics=["accuracy", "macro_f1"])
    assert (accuracy.value, accuracy.n) == (pytest.approx(100 * 4 / 6), 6)
    assert accuracy.signature == "bs:1000|seed:12345|labels:exact|version:augury-0.1"
    assert f1.value == pytest.approx(100 * (4 / 5 + 1 / 2 + 2 / 3) / 3)


def test_a_sample_without_a_label_leaves_it_out_unless_it_is_predicted() -> None:
    statistics = metric("macro_f1").statistics(PREDICTED, REFERENCES)
    value = metric("macro_f1").value
    assert value(statistics[:2].sum(0)) == 100
    assert value(statistics[:3].sum(0)) == pytest.approx(100 * (4 / 5 + 0) / 2)


def test_the_mean_over_sets_with_other_numbers_of_labels_is_that_of_their_scores() -> None:
    scorer = metric("macro_f1")
    sets = [(PREDICTED, REFERENCES), (["a", "x", "b"], ["a", "a", "b"])]
    numbered = []
    for number, (predicted, references) in enumerate(sets):
        ids = [f"{number}-{row}" for row in range(len(references))]
        numbered.append((ids, scorer.statistics(predicted, references)))
    mean = mean_over(scorer.value, 2)(clusters(numbered).sum(0).tolist())
    assert mean == pytest.approx(np.mean([macro_f1(*pair) for pair in sets]))


def test_always_answering_the_most_frequent_label_is_scored() -> None:
    """F1 of the label with 90 % is 2·90/190, that of the other 0: 47.4 in the mean."""
    warning = imbalance_warning("test", {"often": 90, "rare": 10}, ["accuracy", "macro_f1"])
    assert warning and warning.endswith("always answering it scores accuracy 90.0, macro F1 47.4")
    assert imbalance_warning("test", {"a": 60, "b": 40}, ["accuracy"]) is None
    assert imbalance_warning("test", {}, ["accuracy"]) is None


TEXTS = ["the cat sat on the mat", "a dog ran", "the cat sat on the hat", "birds sing at dawn"]


def value(name: str, hypotheses: list[str]) -> float:
    (measured,) = score(hypotheses, TEXTS, metrics=[name], language="en")
    return measured.value


@pytest.mark.parametrize("name", ["bleu", "chrf", "wer"])
def test_the_best_constant_text_is_a_reference_or_the_source(name: str) -> None:
    trivial = best_trivial(metric(name, "en"), TEXTS)
    constants = [value(name, [line] * len(TEXTS)) for line in TEXTS]
    best = min(constants) if name == "wer" else max(constants)
    assert trivial is not None and trivial.value == pytest.approx(best)
    sources = [*TEXTS[:3], "Vögel singen"]
    trivial = best_trivial(metric(name, "en"), TEXTS, sources)
    assert trivial is not None and trivial.output == "the source copied"
    assert trivial.value == pytest.approx(value(name, sources))
