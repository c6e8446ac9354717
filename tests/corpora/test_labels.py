"""The labels of a corpus: their names, their counts, and what is likely wrong with them.

Labels are known by name; a number says nothing without one.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.corpus import LABELLED, LABELS, NLI
from augury.corpora.ingest import ingest
from augury.corpora.labels import LabelNames, are_labels, check_labels, label_counts
from augury.corpora.spec import LabelledSpec


def test_labels_are_counted_and_unknown_ones_refused(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("text\tlabel\nA\tno\nB\tyes\nC\tno\n")
    spec = LabelledSpec.model_validate(
        {"language": "en", "labels": ["yes", "no"], "train": {"file": str(tmp_path / "a.tsv")}}
    )
    counts = label_counts(ingest(spec, "train", Store(tmp_path / "store")))
    assert list(counts.items()) == [("no", 2), ("yes", 1)]
    check_labels(("yes", "no"), "train", counts)
    for unknown, named in (
        (counts, "'no'"),
        ({"woman": 2}, "women"),
        ({str(number): 1 for number in range(3000)}, "3,000 different values in 3,000 rows"),
    ):
        with pytest.raises(UserError, match=named):
            check_labels(("yes", "maybe", "women"), "train", unknown)


def test_one_label_in_two_normal_forms_is_one(tmp_path: Path) -> None:
    composed, apart = "caf\u00e9", "cafe\u0301"
    (tmp_path / "a.tsv").write_text(f"text\tlabel\nA\t{composed}\nB\t{apart}\nC\tno\nD\t1\n")
    text = {"file": str(tmp_path / "a.tsv"), "labels": {1: apart}}
    spec = LabelledSpec.model_validate({"language": "en", "labels": [apart, "no"], "train": text})
    counts = label_counts(ingest(spec, "train", Store(tmp_path / "store")))
    assert counts == {composed: 3, "no": 1} and spec.labels == (composed, "no")
    with pytest.raises(ValueError, match=f"'{composed}' is there 2 times"):
        LabelledSpec.model_validate({"language": "en", "labels": [apart, composed], "train": text})


def test_many_labels_are_labels_where_each_has_several_rows() -> None:
    assert are_labels(150, 4 * 150) and not are_labels(150, 4 * 150 - 1)
    assert are_labels(100, 100) and not are_labels(10_001, 10**6)


def meant(names: LabelNames, *given: str) -> list[str | None]:
    return [names.label(name, "", "line 1") for name in given]


def refused(names: LabelNames, *given: str) -> bool:
    for name in given:
        with pytest.raises(UserError, match="label"):
            names.label(name, "", "line 1")
    return True


def test_usual_names() -> None:
    names = LabelNames(NLI, {})
    for label in LABELS:
        assert meant(names, label, label[0], label.upper(), f" {label}") == [label] * 4
    assert meant(names, "contradictory", "-") == ["contradiction", None]
    assert refused(names, "", "0", "2", "hidden", "entails", "-1")


def test_given_names_go_before_usual_ones() -> None:
    given = {"0": "contradiction", "e": "neutral", "Entails": "entailment", "-": "neutral"}
    names = LabelNames(NLI, given)
    assert meant(names, *given, "n") == [*given.values(), "neutral"]
    assert refused(names, "1", "entails")
    assert meant(LabelNames(NLI, {"-1": None}), "-1") == [None]


@pytest.mark.parametrize(
    "classes",
    [
        ("entailment", "neutral", "contradiction"),  # XNLI, SNLI and MultiNLI as datasets
        ("contradiction", "entailment", "neutral"),  # checkpoints fine-tuned on MultiNLI by fairseq
        ("CONTRADICTION", "NEUTRAL", "ENTAILMENT"),
    ],
)
def test_numbers_of_classes_are_read_by_name(classes: tuple[str, ...]) -> None:
    names = LabelNames(NLI, {}, classes)
    assert meant(names, "0", "1", "2", "-1") == [*map(str.lower, classes), None]
    assert refused(names, "3")


def test_given_names_of_classes_and_their_numbers() -> None:
    names = LabelNames(NLI, {"yes": "entailment", "1": "neutral"}, ("yes", "maybe", "no"))
    assert meant(names, "0", "1") == ["entailment", "neutral"] and refused(names, "2")


def test_every_name_is_a_label_where_a_kind_has_no_aliases() -> None:
    names = LabelNames(LABELLED, {"bad": "negative", "": None}, ("good", "bad"))
    assert meant(names, "0", "1", "bad", " other ", "", "-1", "any") == [
        *("good", "negative", "negative", "other"),
        *(None, None, "any"),
    ]
    assert meant(LabelNames(LABELLED, {}), "-1") == ["-1"] and refused(LabelNames(LABELLED, {}), "")
