from __future__ import annotations

from augury.scoring.registry import metric
from augury.scoring.scores import score


def test_accuracy_of_labels():
    predicted, labels = (
        ["neutral", "entailment ", "contradiction", "neutral"],
        ["neutral", "entailment", "neutral", ""],
    )
    assert metric("accuracy").statistics(predicted, labels).tolist() == [
        [1, 1],
        [1, 1],
        [0, 1],
        [0, 1],
    ]
    (accuracy,) = score(predicted, labels, metrics=["accuracy"])
    assert (accuracy.name, accuracy.value, accuracy.n) == ("accuracy", 50.0, 4)
    assert accuracy.signature == "bs:1000|seed:12345|labels:exact|version:augury-0.1"
