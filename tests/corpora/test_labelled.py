"""Corpora with labels: records, names of labels, subsets, languages, and built-in text."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora import tables
from augury.corpora.corpus import CORPORA, LABELLED_PAIRS, LABELS, NLI, Corpus
from augury.corpora.ingest import cached_address, ingest
from augury.corpora.records import stratified
from augury.corpora.spec import LabelledPairsSpec, NliSpec

Rows = list[tuple[str, str, str]]
ROWS: Rows = [
    ("it rains", "it is wet", "entailment"),
    ("it rains", "it is dry", "contradiction"),
    ("it rains", "it is cold", "neutral"),
]
NAMES = ("premise", "hypothesis", "label")


def write(path: Path, rows: Rows, names: tuple[str, ...] = NAMES) -> dict[str, Any]:
    path.write_text("".join("\t".join(row) + "\n" for row in [names, *rows]), encoding="utf-8")
    return {"file": str(path)}


def spec(**settings: Any) -> NliSpec:
    return NliSpec.model_validate({"language": "en", **settings})


def labels(records: Corpus) -> list[str]:
    return records.column("label")


def test_records_and_counts(tmp_path: Path, store: Store) -> None:
    rows = [
        ("  it\u00a0rains ", "it is\u2028wet", "entailment"),
        ("a b c d e", "x", "e"),
        ("", "x", "n"),
        ("x", "", "n"),
        ("a", "b", "c"),
        ("a", "b", "c"),
        ("p", "h", "-"),
    ]
    limits = {"max_length": 4, "deduplicate": True}
    corpus = ingest(spec(train=write(tmp_path / "a.tsv", rows), filter=limits), "train", store)
    (table,) = corpus.blocks()
    assert table.schema.equals(NLI.schema) and corpus.kind == NLI
    constants = {"language": "en", "origin": "original", "views": [], "lineage": None}
    kept = [
        ("train-00000001", "it\u00a0rains", "it is\u2028wet", "entailment"),
        ("train-00000005", "a", "b", "contradiction"),
    ]
    expected = [dict(zip(("id", *NAMES), row, strict=True)) | constants for row in kept]
    assert table.to_pylist() == expected
    manifest = corpus.manifest
    assert (manifest["rows"], manifest["rows_in"], manifest["language"]) == (2, 7, "en")
    assert manifest["rejected"] == {
        "no gold label": 1,
        "empty premise": 1,
        "empty hypothesis": 1,
        "too long": 1,
        "duplicate": 1,
    }


def test_records_of_pairs_with_any_labels(tmp_path: Path, store: Store) -> None:
    names = ("one", "two", "same")
    columns = {"columns": {"sentence1": "one", "sentence2": "two", "label": "same"}}

    def pairs(rows: Rows, **settings: Any) -> Corpus:
        text = {**write(tmp_path / "a.tsv", rows, names), **columns, **settings}
        content = {"language": "en", "labels": ["yes", "no"], "train": text}
        return ingest(LabelledPairsSpec.model_validate(content), "train", store)

    rows = [(" It rains.", "It is  wet.", "1"), ("A", "", "0"), ("B", "b", "0")]
    corpus = pairs(rows, labels={"1": "yes"})
    assert corpus.kind == LABELLED_PAIRS
    assert corpus.manifest["rejected"] == {"empty text": 1}
    (table,) = corpus.blocks()
    assert table.schema.equals(LABELLED_PAIRS.schema)
    read = table.select(["sentence1", "sentence2", "label", "language"]).to_pylist()
    assert [tuple(row.values()) for row in read] == [
        ("It rains.", "It is  wet.", "yes", "en"),
        ("B", "b", "0", "en"),
    ]
    with pytest.raises(UserError, match=r"the label is empty .*line 3"):
        pairs([("A", "b", "no"), ("C", "d", "")])


@pytest.mark.parametrize(
    ("name", "content", "settings", "place"),
    [
        ("a.tsv", "premise\thypothesis\tlabel\na\tb\te\na\tb\tno\n", {}, "line 3"),
        ("a.tsv", "a\tb\te\na\tb\tno\n", {"header": NAMES}, "line 2"),
        ("a.tsv", "premise\thypothesis\tlabel\na\tb\tno\n", {"header": NAMES}, "line 2"),
        ("a.jsonl", '{"premise": "a", "hypothesis": "b", "label": "no"}\n', {}, "line 1"),
        ("a.csv", 'premise,hypothesis,label\n"a\nb",b,e\na,b,no\n', {}, "line 4"),
    ],
)
def test_an_unknown_label_is_located(
    tmp_path: Path, store: Store, name: str, content: str, settings: dict[str, Any], place: str
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(UserError, match=rf"label 'no' \(.*{place}.*\): allowed: entailment, neu"):
        ingest(spec(tests={"test": {"file": str(tmp_path / name), **settings}}), "test", store)
    assert store.addresses(CORPORA) == []


def test_unknown_labels_beyond_the_first_block_and_of_rows_that_do_not_belong(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = tables.batches
    monkeypatch.setattr(tables, "batches", lambda items: batches(items, 2))
    rows = [("a", "b", "e"), ("a", "b", "n"), ("a", "b", "c"), ("x", "b", "no"), ("a", "b", "")]
    text = write(tmp_path / "a.tsv", rows)
    with pytest.raises(UserError, match=r"unknown label 'no' \(.*a.tsv, line 5\)"):
        ingest(spec(train=text), "train", store)
    with pytest.raises(UserError, match=r"train: the label is empty \(.*a.tsv, line 6\)"):
        ingest(spec(train={**text, "where": {"premise": "a"}}), "train", store)
    assert labels(ingest(spec(train={**text, "first": 3}), "train", store)) == list(LABELS)


@settings(max_examples=60, deadline=None)
@given(
    counts=st.tuples(*[st.integers(0, 40)] * 3).filter(any), seed=st.integers(0, 99), data=st.data()
)
def test_subsets_are_stratified_and_nested(
    counts: tuple[int, ...], seed: int, data: st.DataObject
) -> None:
    random = np.random.default_rng(seed)
    classes = random.permutation(np.repeat(range(3), counts))
    ranks = random.permutation(len(classes))
    size = data.draw(st.integers(0, len(classes)))
    larger = data.draw(st.integers(size, len(classes)))
    chosen = stratified(classes, ranks, size)
    assert chosen.sum() == size and not (chosen & ~stratified(classes, ranks, larger)).any()
    for label in range(3):
        members = classes == label
        taken = sorted(ranks[chosen & members])
        assert abs(len(taken) - size * counts[label] / len(classes)) < 1
        assert taken == sorted(ranks[members])[: len(taken)]


def test_a_subset_is_the_same_everywhere_and_of_rows_that_pass(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = write(tmp_path / "a.tsv", [(f"p{row}", "h", "enc"[row % 3]) for row in range(30)])
    small = ingest(spec(train={**text, "subset": 6}), "train", store)
    assert small.column("premise") == ["p9", "p11", "p16", "p24", "p25", "p29"]
    kinds = ["e"] * 5 + ["n"] * 3 + ["c"] * 2 + ["-"]
    rows = [(f"p {n}", f"h {n}" if n % 7 else "", kinds[n % 11]) for n in range(3_000)]
    text = write(tmp_path / "b.tsv", rows)
    whole = ingest(spec(train=text), "train", store)
    part = ingest(spec(train={**text, "subset": 500}), "train", store)
    left = {"not in the subset": whole.rows - 500}
    assert part.manifest["rejected"] == whole.manifest["rejected"] | left
    assert [name for name in whole.column("id") if name in {*part.column("id")}] == part.column(
        "id"
    )
    for label in LABELS:
        share = labels(whole).count(label) / whole.rows
        assert abs(labels(part).count(label) - 500 * share) < 1
    batches = tables.batches
    monkeypatch.setattr(tables, "batches", lambda items: batches(items, 700))
    again = ingest(spec(train={**text, "subset": 500}), "train", Store(tmp_path / "other"))
    assert again.address == part.address and again.column("id") == part.column("id")
    with pytest.raises(UserError, match=f"subset is 3,000, but there are {whole.rows:,} examples"):
        ingest(spec(train={**text, "subset": 3_000}), "train", store)


def test_the_language_of_a_row_can_be_that_of_a_column(tmp_path: Path, store: Store) -> None:
    path = tmp_path / "a.tsv"
    lines = ["lang\tpremise\thypothesis\tlabel\n", "de\ta\tb\te\n", "en\ta\tb\tn\n"]
    path.write_text("".join(lines))
    by_column = spec(train={"file": str(path), "columns": {"language": "lang"}})
    assert (
        "language" in spec(train={"file": "a", "columns": {"language": "language"}}).train.columns
    )
    corpus = ingest(by_column, "train", store)
    assert corpus.column("language") == ["de", "en"] and corpus.manifest["language"] == "mul"
    path.write_text("".join([*lines, "deutsch\ta\tb\tn\n"]))
    with pytest.raises(UserError, match="line 4: 'deutsch' is not a language code"):
        ingest(by_column, "train", store)


def test_several_texts_become_one_with_the_languages_of_each(tmp_path: Path, store: Store) -> None:
    file = write(tmp_path / "a.tsv", ROWS)
    texts = [{"name": "english", **file, "subset": 2}, {"name": "german", "language": "de", **file}]
    corpus = ingest(spec(train=texts), "train", store)
    pairs = zip(corpus.column("origin"), corpus.column("language"), strict=True)
    assert Counter(pairs) == {("english", "en"): 2, ("german", "de"): 3}
    assert corpus.manifest["language"] == "mul" and corpus.kind == NLI
    assert corpus.address == cached_address(spec(train=texts), "train")
