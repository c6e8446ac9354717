"""Labels are known by name; a number says nothing without one."""

from __future__ import annotations

import pytest

from augury.corpora.corpus import LABELS
from augury.corpora.nli_labels import LabelNames


def test_usual_names() -> None:
    names = LabelNames({})
    assert (
        [names[name] for name in LABELS]
        == list(LABELS)
        == ["entailment", "neutral", "contradiction"]
    )
    assert [names[name] for name in ("e", "n", "c", "contradictory")] == [*LABELS, "contradiction"]
    assert [names[name] for name in ("Entailment", " NEUTRAL ", "C")] == list(LABELS)
    assert "-" in names and names["-"] is None
    for name in ("", "0", "2", "hidden", "entails", "-1"):
        assert name not in names


def test_given_names_go_before_usual_ones() -> None:
    names = LabelNames(
        {"0": "contradiction", "e": "neutral", "Entails": "entailment", "-": "neutral"}
    )
    assert [names[name] for name in ("0", "e", "Entails", "-", "n")] == [
        "contradiction",
        "neutral",
        "entailment",
        "neutral",
        "neutral",
    ]
    assert "1" not in names and "entails" not in names
    assert LabelNames({"-1": "-"})["-1"] is None


@pytest.mark.parametrize(
    "classes",
    [
        ("entailment", "neutral", "contradiction"),  # XNLI, SNLI and MultiNLI as datasets
        ("contradiction", "entailment", "neutral"),  # checkpoints fine-tuned on MultiNLI by fairseq
        ("CONTRADICTION", "NEUTRAL", "ENTAILMENT"),
    ],
)
def test_numbers_of_classes_are_read_by_name(classes: tuple[str, ...]) -> None:
    names = LabelNames({}, classes)
    assert [names[str(number)] for number in range(3)] == [name.lower() for name in classes]
    assert names["-1"] is None and "3" not in names


def test_given_names_of_classes_and_their_numbers() -> None:
    names = LabelNames({"yes": "entailment", "1": "neutral"}, ("yes", "maybe", "no"))
    assert [names["0"], names["1"]] == ["entailment", "neutral"] and "2" not in names


MAYBE = (
    "unknown label 'maybe' (a.tsv, line 2): allowed: entailment, neutral, contradiction, e, n, c, "
    "contradictory, -; or "
    "map it to a label, for example labels: {maybe: neutral}, or {maybe: '-'} for no gold label"
)


@pytest.mark.parametrize(
    ("name", "classes", "complaint"),
    [
        (
            "1",
            (),
            "unknown label '1' (a.tsv, line 2): data sets number labels differently; give the "
            "meaning of the numbers, "
            "for example labels: {0: entailment, 1: neutral, 2: contradiction, -1: '-'}, where '-' "
            "is no gold label",
        ),
        ("maybe", (), MAYBE),
        ("1", ("yes", "maybe"), MAYBE),
        (
            " ",
            (),
            "the label is empty (a.tsv, line 2): complete the row, or leave out all such rows, "
            "labels: {'': '-'}",
        ),
    ],
)
def test_complaints(name: str, classes: tuple[str, ...], complaint: str) -> None:
    assert LabelNames({}, classes).unknown_message(name, "a.tsv, line 2") == complaint
