"""Macro F1 against values computed by hand, and what its statistics allow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augury.scoring.bootstrap import Resampled, resample
from augury.scoring.registry import metric
from augury.scoring.scores import score
from augury.scoring.significance import clusters, compare, mean_over

REFERENCES = ["a", "a", "a", "b", "b", "c"]
PREDICTED = ["a", "a", "b", "b", "c", "c "]


def macro_f1(predicted: list[str], references: list[str]) -> float:
    scorer = metric("macro_f1")
    return float(scorer.value(scorer.statistics(predicted, references).sum(0)))


def test_it_is_the_mean_of_f1_over_labels() -> None:
    """F1: a 2·2/(2+3), b 2·1/(2+2), c 2·1/(2+1)."""
    assert macro_f1(PREDICTED, REFERENCES) == pytest.approx(100 * (4 / 5 + 1 / 2 + 2 / 3) / 3)
    (result,) = score(PREDICTED, REFERENCES, metrics=["macro_f1"])
    assert (result.name, result.n, result.low <= result.value <= result.high) == (
        "macro_f1",
        6,
        True,
    )


def test_a_label_that_no_reference_has_is_a_miss_and_no_class() -> None:
    """F1: a 2·1/(1+2), b 1."""
    assert macro_f1(["a", "x", "b"], ["a", "a", "b"]) == pytest.approx(100 * (2 / 3 + 1) / 2)


def test_one_label_for_all_is_half_of_its_f1_of_two() -> None:
    """F1 of the label with 90 % of the examples is 2·90/(100+90), that of the other 0."""
    references = ["a"] * 90 + ["b"] * 10
    assert macro_f1(["a"] * 100, references) == pytest.approx(50 * 180 / 190)


def test_a_sample_without_a_label_leaves_it_out_unless_it_is_predicted() -> None:
    statistics = metric("macro_f1").statistics(PREDICTED, REFERENCES)
    value = metric("macro_f1").value
    assert value(statistics[:2].sum(0)) == 100
    assert value(statistics[:3].sum(0)) == pytest.approx(100 * (4 / 5 + 0) / 2)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abcd")), min_size=1))
def test_it_agrees_with_precision_and_recall(pairs: list[tuple[str, str]]) -> None:
    references, predicted = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    scores = []
    for label in set(references):
        right = sum(pair == (label, label) for pair in pairs)
        precision = right / max(1, predicted.count(label))
        recall = right / references.count(label)
        scores.append(2 * precision * recall / (precision + recall) if right else 0.0)
    assert macro_f1(predicted, references) == pytest.approx(100 * np.mean(scores))


def test_systems_are_compared_over_seeds_and_examples() -> None:
    """A system that is right twice as often on a rare label is better by a real difference."""
    random = np.random.default_rng(1)
    references = np.where(random.random(600) < 0.2, "rare", "often")

    def system(errors: float) -> Resampled:
        predicted = []
        for _ in range(3):
            wrong = (references == "rare") & (random.random(600) < errors)
            predicted.append(np.where(wrong, "often", references).tolist())
        scorer = metric("macro_f1")
        return resample([scorer.statistics(seed, references) for seed in predicted], scorer.value)

    difference = compare(system(0.6), system(0.2))
    assert difference.over == "seeds and sentences"
    assert difference.value > 10 and difference.p_value < 0.01


def test_the_mean_over_sets_with_other_numbers_of_labels_is_that_of_their_scores() -> None:
    scorer = metric("macro_f1")
    sets = [(PREDICTED, REFERENCES), (["a", "x", "b"], ["a", "a", "b"])]
    numbered = [
        ([f"{index}-{row}" for row in range(len(references))], scorer.statistics(*pair))
        for index, pair in enumerate(sets)
        for references in pair[1:]
    ]
    mean = mean_over(scorer.value, 2)(clusters(numbered).sum(0).tolist())
    assert mean == pytest.approx(np.mean([macro_f1(*pair) for pair in sets]))
