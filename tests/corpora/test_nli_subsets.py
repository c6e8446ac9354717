"""From NLI text to a corpus in the store: labels, subsets, counts, addresses and faults."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora import builtin_nli, tables
from augury.corpora.corpus import KIND, LABELS, NLI, Corpus
from augury.corpora.ingest import cached_address, cached_corpus, corpus_address, ingest, overlap
from augury.corpora.nli import NliSpec
from augury.corpora.parallel import CorpusSpec
from augury.corpora.records import stratified

Rows = list[tuple[str, str, str]]
batches = tables.batches
ROWS: Rows = [
    ("it rains", "it is wet", "entailment"),
    ("it rains", "it is dry", "contradiction"),
    ("it rains", "it is cold", "neutral"),
]


def write(path: Path, rows: Rows, header: str = "premise\thypothesis\tlabel") -> dict[str, Any]:
    path.write_text(
        "".join(f"{line}\n" for line in [header, *("\t".join(row) for row in rows)]),
        encoding="utf-8",
    )
    return {"file": str(path)}


def spec(**settings: Any) -> NliSpec:
    return NliSpec.model_validate({"language": "en", **settings})


def labels(records: Corpus) -> list[str]:
    return records.column("label")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def test_records(tmp_path: Path, store: Store) -> None:
    rows = [
        ("  it\u00a0rains ", "it is\u2028wet", "entailment"),
        ("", "x", "neutral"),
        ("a", "b", "c"),
    ]
    corpus = ingest(spec(train=write(tmp_path / "a.tsv", rows)), "train", store)
    table = pa.concat_tables(corpus.blocks())
    assert table.schema.equals(NLI.schema) and corpus.kind == "nli"
    constants: dict[str, Any] = {
        "language": "en",
        "origin": "original",
        "views": [],
        "lineage": None,
    }
    assert table.to_pylist() == [
        {
            "id": "train-00000001",
            "premise": "it\u00a0rains",
            "hypothesis": "it is\u2028wet",
            "label": "entailment",
            **constants,
        },
        {
            "id": "train-00000003",
            "premise": "a",
            "hypothesis": "b",
            "label": "contradiction",
            **constants,
        },
    ]


def test_manifest(tmp_path: Path, store: Store) -> None:
    rows = [
        *ROWS,
        ("a b c d e", "x", "e"),
        ("", "x", "n"),
        ("x", "", "n"),
        ROWS[0],
        ("p", "h", "-"),
        ("p", "h", "n"),
    ]
    corpus_spec = spec(
        train=write(tmp_path / "a.tsv", rows), filter={"max_length": 4, "deduplicate": True}
    )
    manifest = ingest(corpus_spec, "train", store).manifest
    assert (manifest["rows"], manifest["rows_in"], manifest["cleaned"]) == (4, 9, 0)
    assert manifest["rejected"] == {
        "too long": 1,
        "empty premise": 1,
        "empty hypothesis": 1,
        "duplicate": 1,
        "no gold label": 1,
    }
    assert manifest["labels"] == {"entailment": 1, "neutral": 2, "contradiction": 1}
    assert [
        manifest[key] for key in ("kind", "split", "language", "subset", "inputs", "note", "known")
    ] == [
        "nli",
        "train",
        "en",
        None,
        [],
        None,
        None,
    ]
    assert [(Path(file["path"]).name, file["lines"]) for file in manifest["files"]] == [
        ("a.tsv", 10)
    ]
    part = corpus_spec.resolve("train")
    assert manifest["spec"] == {
        "text": part.text.to_dict(),
        "filter": part.filter.to_dict(),
        "every": None,
    }


def test_every_format_gives_the_same_records(tmp_path: Path, store: Store) -> None:
    names = ("sentence1", "sentence2", "gold_label")
    columns = dict(zip(("premise_column", "hypothesis_column", "label_column"), names, strict=True))
    records = [dict(zip(names, row, strict=True)) for row in ROWS]
    texts = [write(tmp_path / "a.tsv", ROWS, "\t".join(names))]
    (tmp_path / "a.csv").write_text(
        ",".join(names) + "\n" + "".join(f'{p},"{h}",{label}\n' for p, h, label in ROWS)
    )
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    pq.write_table(pa.Table.from_pylist(records), tmp_path / "a.parquet")
    datasets.DatasetDict({"train": datasets.Dataset.from_list(records)}).save_to_disk(
        str(tmp_path / "hub")
    )
    texts += [{"file": str(tmp_path / name)} for name in ("a.csv", "a.jsonl", "a.parquet")]
    texts += [{"hub": str(tmp_path / "hub")}]
    corpora = [ingest(spec(train={**text, **columns}), "train", store) for text in texts]
    tables = [pa.concat_tables(corpus.blocks()) for corpus in corpora]
    assert (
        all(table.equals(tables[0]) for table in tables)
        and len({corpus.address for corpus in corpora}) == 5
    )
    assert labels(corpora[0]) == [label for *_, label in ROWS]


@pytest.mark.parametrize(
    "names",
    [["entailment", "neutral", "contradiction"], ["contradiction", "entailment", "neutral"]],
)
def test_classes_of_a_dataset_are_mapped_by_name(
    tmp_path: Path, store: Store, names: list[str]
) -> None:
    features = datasets.Features(
        {
            "premise": datasets.Value("string"),
            "hypothesis": datasets.Value("string"),
            "label": datasets.ClassLabel(names=names),
        }
    )
    rows = [
        {"premise": f"p{number}", "hypothesis": "h", "label": number} for number in (0, 1, 2, -1)
    ]
    dataset = datasets.Dataset.from_list(rows, features=features)
    datasets.DatasetDict({"validation": dataset}).save_to_disk(str(tmp_path / "hub"))
    corpus = ingest(spec(valid={"hub": str(tmp_path / "hub")}), "valid", store)
    assert labels(corpus) == names and corpus.manifest["rejected"] == {"no gold label": 1}


def test_numbers_need_to_be_said_what_they_mean(tmp_path: Path, store: Store) -> None:
    text = write(tmp_path / "a.tsv", [("a", "b", "2"), ("c", "d", "0")])
    with pytest.raises(UserError) as error:
        ingest(spec(train=text), "train", store)
    assert str(error.value) == (
        f"train: unknown label '2' ({text['file']}, line 2): data sets number labels differently; "
        "give the meaning of "
        "the numbers, for example labels: {0: entailment, 1: neutral, 2: contradiction, -1: '-'}, "
        "where '-' is "
        "no gold label"
    )
    numbered = {**text, "labels": {0: "contradiction", 2: "entailment"}}
    assert labels(ingest(spec(train=numbered), "train", store)) == ["entailment", "contradiction"]


@pytest.mark.parametrize("extension", ["tsv", "jsonl", "parquet"])
def test_a_number_may_stand_for_no_gold_label(tmp_path: Path, store: Store, extension: str) -> None:
    path, table = (
        tmp_path / f"a.{extension}",
        pa.table({"premise": ["a", "c"], "hypothesis": ["b", "d"], "label": [1, -1]}),
    )
    if extension == "parquet":
        pq.write_table(table, path)
    elif extension == "jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()))
    else:
        write(path, [("a", "b", "1"), ("c", "d", "-1")])
    corpus = ingest(
        spec(valid={"file": str(path), "labels": {1: "neutral", -1: "-"}}), "valid", store
    )
    assert labels(corpus) == ["neutral"] and corpus.manifest["rejected"] == {"no gold label": 1}


@pytest.mark.parametrize(
    ("name", "content", "settings", "location"),
    [
        ("a.tsv", "premise\thypothesis\tlabel\na\tb\te\na\tb\tno\n", {}, ", line 3"),
        (
            "a.tsv",
            "a\tb\te\na\tb\tno\n",
            {"header": ("premise", "hypothesis", "label")},
            ", line 2",
        ),
        (
            "a.tsv",
            "premise\thypothesis\tlabel\na\tb\tno\n",
            {"header": ("premise", "hypothesis", "label")},
            ", line 2",
        ),
        ("a.jsonl", '{"premise": "a", "hypothesis": "b", "label": "no"}\n', {}, ", line 1"),
        ("a.csv", 'premise,hypothesis,label\n"a\nb",b,e\na,b,no\n', {}, ", line 4"),
        (
            "a.csv",
            '"a\nb",b,e\na,b,no\n',
            {"header": ("premise", "hypothesis", "label")},
            ", line 3",
        ),
    ],
)
def test_an_unknown_label_is_located(
    tmp_path: Path, store: Store, name: str, content: str, settings: dict[str, Any], location: str
) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(UserError) as error:
        ingest(spec(tests={"test": {"file": str(path), **settings}}), "test", store)
    assert str(error.value).startswith(
        f"test: unknown label 'no' ({path}{location}): allowed: entailment, neutral"
    )
    assert store.addresses(KIND) == []


def test_unknown_labels_beyond_the_first_block_and_of_rows_that_do_not_belong(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_subset_of_a_text(tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = ["e"] * 5 + ["n"] * 3 + ["c"] * 2 + ["-"]
    rows = [
        (f"premise {row}", f"hypothesis {row}" if row % 7 else "", kinds[row % 11])
        for row in range(3_000)
    ]
    text = write(tmp_path / "a.tsv", rows)

    def subset(size: int, **settings: Any) -> Corpus:
        return ingest(spec(train={**text, "subset": size, **settings}), "train", store)

    whole = ingest(spec(train=text), "train", store)
    small, large = subset(100), subset(500)
    order = {name: position for position, name in enumerate(whole.column("id"))}
    for corpus, size in ((small, 100), (large, 500)):
        positions = [order[name] for name in corpus.column("id")]
        assert corpus.rows == size and positions == sorted(positions)
        manifest, counts = corpus.manifest, whole.manifest["labels"]
        assert manifest["subset"] == {"rows": size, "of": whole.rows, "seed": 1}
        assert manifest["rejected"] == {
            **whole.manifest["rejected"],
            "not in the subset": whole.rows - size,
        }
        assert manifest["labels"] == Counter(labels(corpus))
        for label in LABELS:
            assert abs(manifest["labels"][label] - size * counts[label] / whole.rows) < 1
    assert set(small.column("id")) < set(large.column("id"))
    assert set(subset(100, subset_seed=2).column("id")) != set(small.column("id"))
    monkeypatch.setattr(tables, "batches", lambda items: batches(items, 700))
    again = ingest(spec(train={**text, "subset": 100}), "train", Store(tmp_path / "other"))
    assert again.address == small.address and again.column("id") == small.column("id")
    with pytest.raises(UserError, match=f"subset is 3,000, but there are {whole.rows:,} examples"):
        subset(3_000)


def test_the_same_subset_everywhere(tmp_path: Path, store: Store) -> None:
    text = write(tmp_path / "a.tsv", [(f"p{row}", "h", "enc"[row % 3]) for row in range(30)])
    corpus = ingest(spec(train={**text, "subset": 6}), "train", store)
    assert corpus.column("premise") == ["p9", "p11", "p16", "p24", "p25", "p29"]


def test_the_builtin_corpus(
    store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("augury.core.messages._logged", set())
    corpus_spec = spec(
        language="qaa",
        train={"builtin": 30, "seed": 3, "lexicon": 50},
        valid={"builtin": 9},
        tests={"qaa": {"builtin": 12}, "qab": {"builtin": 12, "language": "qab"}},
    )
    corpora = {split: ingest(corpus_spec, split, store) for split in corpus_spec.splits()}
    expected = list(builtin_nli.examples("train", 30, "qaa", seed=3, lexicon=50))
    assert corpora["train"].column("premise") == [example.premise for example in expected]
    assert corpora["train"].column("id") == [example.id for example in expected]
    qaa, qab = corpora["qaa"], corpora["qab"]
    assert qaa.column("id") == qab.column("id") and labels(qaa) == labels(qab)
    assert set(qaa.column("language")) == {"qaa"} and set(qab.column("language")) == {"qab"}
    assert all(corpus.manifest["note"] == builtin_nli.NOTE for corpus in corpora.values())
    assert capsys.readouterr().err.count(builtin_nli.NOTE) == 1
    assert overlap(corpora["train"], qaa) == 0 and overlap(qaa, qaa) == 12


def test_the_builtin_corpus_as_translations(store: Store) -> None:
    def corpus(source: str, target: str, **settings: Any) -> Corpus:
        text = {"builtin": 20, **settings}
        values = {
            "source_language": source,
            "target_language": target,
            "train": text,
            "filter": {"max_ratio": None},
        }
        return ingest(CorpusSpec.model_validate(values), "train", store)

    forward, back = corpus("qaa", "qab"), corpus("qab", "qaa")
    assert (forward.kind, forward.manifest["note"]) == ("parallel", builtin_nli.NOTE)
    assert forward.column("source") == back.column("target") and forward.column(
        "target"
    ) == back.column("source")
    assert forward.column("source") == [
        pair.source for pair in builtin_nli.translations("train", 20, ("qaa", "qab"))
    ]
    assert corpus("qaa", "qab", lexicon=96).column("source") == forward.column("source")
    assert (
        len(
            {
                item.address
                for item in (forward, back, corpus("qaa", "qab", lexicon=2000), corpus("de", "en"))
            }
        )
        == 4
    )
    with pytest.raises(
        UserError,
        match="unknown language of the built-in NLI corpus 'en': allowed: qaa, qab",
    ):
        corpus("qaa", "en")


def test_address_is_of_content_and_settings(tmp_path: Path, store: Store) -> None:
    text, moved = write(tmp_path / "a.tsv", ROWS), write(tmp_path / "b.tsv", ROWS)
    base = ingest(spec(train=text), "train", store)
    assert (
        base.address == corpus_address(spec(train=moved, valid=text), "train") == "425c127b15b0f64c"
    )
    others = [
        spec(train={**text, "labels": {"entailment": "neutral"}}),
        spec(train={**text, "subset": 3}),
        spec(train={**text, "subset": 3, "subset_seed": 2}),
        spec(train={**text, "first": 2}),
        spec(train={**text, "premise_column": "hypothesis", "hypothesis_column": "premise"}),
        spec(train={**text, "language": "fr"}),
        spec(train=text, filter={"max_length": 50}),
        spec(train=write(tmp_path / "c.tsv", ROWS[:2])),
    ]
    assert (
        len({base.address, *(corpus_address(other, "train") for other in others)})
        == len(others) + 1
    )
    assert corpus_address(spec(language="fr", train=text), "train") == corpus_address(
        others[5], "train"
    )
    test = spec(tests={"a": text}, filter={"max_length": 9, "deduplicate": True})
    assert corpus_address(test, "a") == corpus_address(spec(tests={"a": text}), "a")


def test_corpora_of_both_kinds_are_read_once_in_a_process(tmp_path: Path) -> None:
    nli = spec(train=write(tmp_path / "a.tsv", ROWS))
    parallel = CorpusSpec.model_validate(
        {
            "source_language": "en",
            "target_language": "en",
            "train": {
                "file": str(tmp_path / "a.tsv"),
                "source_column": "premise",
                "target_column": "hypothesis",
            },
        }
    )
    for corpus_spec in (nli, parallel):
        corpus = cached_corpus(corpus_spec, "train", str(tmp_path / "store"))
        assert corpus is cached_corpus(corpus_spec.model_copy(), "train", str(tmp_path / "store"))
        assert (corpus.rows, corpus.address) == (3, cached_address(corpus_spec, "train"))


def test_the_language_of_a_row_can_be_that_of_a_column(tmp_path: Path, store: Store) -> None:
    path = tmp_path / "a.tsv"
    lines = [
        "lang\tpremise\thypothesis\tlabel",
        "de\tes regnet\tes ist nass\tentailment",
        "en\ta\tb\tneutral",
    ]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    corpus = ingest(spec(train={"file": str(path), "language_column": "lang"}), "train", store)
    assert corpus.column("language") == ["de", "en"] and corpus.manifest["language"] == "mul"
    path.write_text(
        "".join(f"{line}\n" for line in [*lines, "deutsch\ta\tb\tneutral"]), encoding="utf-8"
    )
    with pytest.raises(UserError, match="line 4: 'deutsch' is not a language code"):
        ingest(spec(train={"file": str(path), "language_column": "lang"}), "train", store)


def test_several_texts_become_one_with_the_languages_of_each(tmp_path: Path, store: Store) -> None:
    file = write(tmp_path / "a.tsv", ROWS)
    texts = [{"name": "english", **file, "subset": 2}, {"name": "german", "language": "de", **file}]
    corpus = ingest(spec(train=texts), "train", store)
    assert Counter(zip(corpus.column("origin"), corpus.column("language"), strict=True)) == {
        ("english", "en"): 2,
        ("german", "de"): 3,
    }
    assert corpus.manifest["language"] == "mul" and corpus.kind == "nli"
    assert corpus.address == corpus_address(spec(train=texts), "train")


def test_addresses_of_texts_in_one_language_are_as_without_the_setting(tmp_path: Path) -> None:
    file = write(tmp_path / "a.tsv", ROWS)
    settings = spec(train=file).train.settings()
    assert not {"language", "language_column", "name"} & settings.keys()
