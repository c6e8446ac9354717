"""The labels of a corpus: their counts, and what is likely wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.ingest import ingest
from augury.corpora.labelled import LabelledSpec
from augury.corpora.labels import are_labels, check_labels, label_counts, label_doubts


def test_labels_are_counted_and_unknown_ones_refused(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("text\tlabel\nA\tno\nB\tyes\nC\tno\n")
    spec = LabelledSpec.model_validate(
        {"language": "en", "labels": ["yes", "no"], "train": {"file": str(tmp_path / "a.tsv")}}
    )
    counts = label_counts(ingest(spec, "train", Store(tmp_path / "store")))
    assert list(counts.items()) == [("no", 2), ("yes", 1)]
    check_labels(("yes", "no"), "train", counts)
    with pytest.raises(UserError, match="unknown label 'no': corpus.labels has yes, maybe"):
        check_labels(("yes", "maybe"), "train", counts)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({"woman": 2}, r"names: \{'woman': women\}"),
        ({str(number): 1 for number in range(3000)}, "3,000 different values in 3,000 rows"),
    ],
)
def test_the_error_on_a_label_says_what_is_likely(counts: dict[str, int], message: str) -> None:
    with pytest.raises(UserError, match=message):
        check_labels(("man", "people", "women"), "train", counts)


def test_labels_that_may_be_one_are_doubted() -> None:
    alike, single = label_doubts({"man": 9, "people": 4, "Man": 2, "a  b": 1, "a b": 1, "mann": 1})
    assert "'Man' (2 rows), 'man' (9 rows); " in alike and "names: {'Man': man}" in alike
    assert "'a b' (1 row)" in alike
    assert "'mann' (1 row): is 'mann' meant to be 'man'?" in single
    assert label_doubts({"a": 2, "b": 3}) == []


def test_many_labels_are_labels_where_each_has_several_rows() -> None:
    assert are_labels(150, 4 * 150) and not are_labels(150, 4 * 150 - 1)
    assert are_labels(100, 100) and not are_labels(10_001, 10**6)
