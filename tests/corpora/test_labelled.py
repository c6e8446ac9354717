"""Labelled sentences and pairs: records and built-in text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora.builtin_nli import POLARITIES
from augury.corpora.corpus import LABELLED_PAIRS, LABELS, Corpus
from augury.corpora.ingest import ingest
from augury.corpora.labelled import LabelledPairsSpec, LabelledSpec
from augury.corpora.labels import label_counts


def pairs(tmp_path: Path, rows: str, **settings: Any) -> Corpus:
    (tmp_path / "a.tsv").write_text(f"one\ttwo\tsame\n{rows}")
    text = {
        "file": str(tmp_path / "a.tsv"),
        "sentence1_column": "one",
        "sentence2_column": "two",
        "label_column": "same",
        **settings,
    }
    spec = LabelledPairsSpec.model_validate(
        {"language": "en", "labels": ["yes", "no"], "train": text}
    )
    return ingest(spec, "train", Store(tmp_path / "store"))


def test_records_of_pairs_have_both_sentences_and_a_label(tmp_path: Path) -> None:
    corpus = pairs(tmp_path, " It rains.\tIt is  wet.\t1\nA\t\t0\nB\tb\t0\n", names={"1": "yes"})
    assert (corpus.kind, corpus.noun) == ("labelled pairs", "pairs")
    assert corpus.manifest["rejected"] == {"empty text": 1}
    (table,) = corpus.blocks()
    assert table.schema.equals(LABELLED_PAIRS.schema)
    read = table.select(["sentence1", "sentence2", "label", "language"]).to_pylist()
    assert [tuple(row.values()) for row in read] == [
        ("It rains.", "It is  wet.", "yes", "en"),
        ("B", "b", "0", "en"),
    ]


def test_an_empty_label_is_an_error_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"the label is empty .*line 3"):
        pairs(tmp_path, "A\tb\tno\nC\td\t\n")


@pytest.mark.parametrize(
    ("spec", "labels"), [(LabelledSpec, POLARITIES), (LabelledPairsSpec, LABELS)]
)
def test_built_in_text_has_every_label_and_splits_that_differ(
    spec: type[LabelledSpec], labels: tuple[str, ...], tmp_path: Path
) -> None:
    settings = {
        "language": "qaa",
        "labels": labels,
        "train": {"builtin": 200},
        "valid": {"builtin": 50},
    }
    corpora = [
        ingest(spec.model_validate(settings), split, Store(tmp_path))
        for split in ("train", "valid")
    ]
    columns = spec.TEXT.COLUMNS[:-1]
    train, valid = (set(zip(*map(corpus.column, columns), strict=True)) for corpus in corpora)
    assert (len(train), len(valid)) == (200, 50) and not train & valid
    assert set(label_counts(corpora[0])) == set(labels)
    assert min(label_counts(corpora[0]).values()) > 20


def test_a_built_in_sentence_is_negative_if_it_has_no_or_not(tmp_path: Path) -> None:
    spec = LabelledSpec.model_validate(
        {"language": "qaa", "labels": POLARITIES, "train": {"builtin": 100}}
    )
    corpus = ingest(spec, "train", Store(tmp_path))
    for text, label in zip(corpus.column("text"), corpus.column("label"), strict=True):
        assert (label == "negative") == bool({"ne", "pa"} & set(text.split()))
