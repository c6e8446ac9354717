from __future__ import annotations

from augury.scoring.imbalance import imbalance_note


def test_always_answering_the_most_frequent_label_is_scored() -> None:
    """F1 of the label with 90 % is 2·90/190, that of the other 0: 47.4 in the mean."""
    note = imbalance_note("test", {"often": 90, "rare": 10}, ["accuracy", "macro_f1"])
    assert note == (
        "90.0 % of the 100 examples of test are 'often': always answering it scores accuracy 90.0, "
        "macro F1 47.4"
    )


def test_nothing_is_said_of_balanced_labels_and_of_none() -> None:
    assert imbalance_note("test", {"a": 60, "b": 40}, ["accuracy"]) is None
    assert imbalance_note("test", {}, ["accuracy"]) is None
