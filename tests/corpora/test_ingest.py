"""From text to a corpus in the store: records, counts, addresses, faults and interrupted work."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.core.errors import UserError
from augury.core.store import Store
from augury.corpora import corpus
from augury.corpora.corpus import CORPORA, Corpus
from augury.corpora.ingest import cached_address, ingest, overlaps
from augury.corpora.spec import CorpusSpec

Pairs = list[tuple[str, str]]


def write(directory: Path, name: str, pairs: Pairs) -> dict[str, str]:
    directory.mkdir(exist_ok=True, parents=True)
    for side, language in enumerate(("de", "en")):
        (directory / f"{name}.{language}").write_bytes(
            "".join(pair[side] + "\n" for pair in pairs).encode()
        )
    return {"source": str(directory / f"{name}.de"), "target": str(directory / f"{name}.en")}


STRICT = {"max_ratio": 1.5}


def spec(**settings: Any) -> CorpusSpec:
    return CorpusSpec.model_validate({"source_language": "de", "target_language": "en", **settings})


def pairs(corpus: Corpus) -> Pairs:
    return list(zip(corpus.column("source"), corpus.column("target"), strict=True))


def test_manifest(tmp_path: Path, store: Store) -> None:
    rejected = {
        "empty source": ("", "x"),
        "empty target": ("a", ""),
        "too long": (" ".join("a" * 9), " ".join("x" * 9)),
        "ratio": ("a a a", "x"),
        "duplicate": ("a", "x"),
    }
    rows = [("a", "x"), *rejected.values(), ("a\tb", "x y"), ("b", "y")]
    limits = {**STRICT, "max_length": 8, "deduplicate": True}
    corpus_spec = spec(train=write(tmp_path, "a", rows), filter=limits)
    manifest = ingest(corpus_spec, "train", store).manifest
    assert (manifest["rows"], manifest["rows_in"]) == (3, 8)
    assert manifest["rejected"] == dict.fromkeys(rejected, 1)
    for file, side in zip(manifest["files"], ("de", "en"), strict=True):
        content = (tmp_path / f"a.{side}").read_bytes()
        assert (file["lines"], file["size"]) == (8, len(content))
        assert file["sha256"] == hashlib.sha256(content).hexdigest()


ROW = st.tuples(st.sampled_from(["", " ", "a", "a b", "a b c", "é\t"]), st.sampled_from(["", "x"]))


@settings(max_examples=25, deadline=None)
@given(
    rows=st.lists(ROW, min_size=1, max_size=30),
    every=st.sampled_from([None, 2, 3]),
    deduplicate=st.booleans(),
    first=st.sampled_from([None, 1, 10]),
)
def test_every_row_is_kept_or_counted(
    tmp_path_factory: pytest.TempPathFactory, rows: Pairs, every: Any, deduplicate: bool, first: Any
) -> None:
    directory = tmp_path_factory.mktemp("text")
    corpus_spec = spec(
        train={**write(directory, "a", rows), "first": first},
        every=every,
        filter={"deduplicate": deduplicate},
    )
    kept = {}
    for split in corpus_spec.splits():
        try:
            corpus = ingest(corpus_spec, split, Store(directory / "store"))
        except UserError as error:
            assert "rows are rejected" in str(error) or "too few" in str(error)
            return
        counted = len(corpus.column("id")) + sum(corpus.manifest["rejected"].values())
        assert corpus.manifest["rows_in"] == min(len(rows), first or 30) == counted
        kept[split] = {int(name.rpartition("-")[2]) for name in corpus.column("id")}
    assert not kept["train"] & kept.get("valid", set())


def test_rows_are_held_out_across_blocks_and_after_the_filter(tmp_path: Path, store: Store) -> None:
    rows = [(f"s{row}", f"t{row}" if row % 3 else "a b") for row in range(45_000)]
    corpus_spec = spec(train=write(tmp_path, "a", rows), every=7, filter=STRICT)
    kept = [pair for pair in rows if pair[1] != "a b"]
    train, valid = ingest(corpus_spec, "train", store), ingest(corpus_spec, "valid", store)
    assert pairs(valid) == kept[6::7] and valid.column("id")[0] == "valid-00000011"
    assert pairs(train) == [pair for at, pair in enumerate(kept, start=1) if at % 7]
    ratio, held_out = len(rows) - len(kept), len(kept) // 7
    assert train.manifest["rejected"] == {"ratio": ratio, "held out": held_out}
    assert valid.manifest["rejected"] == {"ratio": ratio, "not selected": len(kept) - held_out}


def test_a_subset_is_of_the_rows_that_are_not_held_out(tmp_path: Path, store: Store) -> None:
    files = write(tmp_path, "a", [(f"s{row}", f"t{row}") for row in range(100)])
    whole = ingest(spec(train=files, every=5), "valid", store)
    small = spec(train={**files, "subset": 20}, every=5)
    train, valid = ingest(small, "train", store), ingest(small, "valid", store)
    assert train.rows == 20 and train.manifest["rejected"] == {
        "held out": 20,
        "not in the subset": 60,
    }
    assert valid.address == whole.address and not {*pairs(train)} & {*pairs(valid)}


def test_lengths_and_ratio_decide_in_training_text_only(tmp_path: Path, store: Store) -> None:
    rows = [("a b c", "x y"), ("a b c d e", "x y z"), ("a " * 176, "x " * 176), ("A a", "x y")]
    rows.append(rows[0])
    files = write(tmp_path, "a", rows)
    corpus_spec = spec(
        train=files,
        valid=files,
        tests={"test": files},
        filter={**STRICT, "lowercase": True, "deduplicate": True},
    )
    assert pairs(ingest(corpus_spec, "train", store)) == [("a b c", "x y"), ("a a", "x y")]
    for split in ("valid", "test"):
        corpus = ingest(corpus_spec, split, store)
        assert pairs(corpus) == [
            (source.strip().lower(), target.strip()) for source, target in rows
        ]
        assert corpus.manifest["rejected"] == {}


@pytest.mark.parametrize("split", ["valid", "test"])
def test_an_empty_side_in_a_test_set(tmp_path: Path, store: Store, split: str) -> None:
    files = write(tmp_path, "a", [("a", "x"), ("b", "\u00a0")])
    with pytest.raises(UserError, match=f"{split}: empty target in .*a.en, line 2"):
        ingest(spec(valid=files, tests={"test": files}), split, store)
    assert store.addresses(CORPORA) == []


def test_most_rows_rejected(tmp_path: Path, store: Store) -> None:
    rows = [("a", "x")] * 2 + [("a b c", "x")] * 2 + [("", "x")]
    train = write(tmp_path, "a", rows)
    with pytest.raises(UserError, match=r"3 of 5 rows .*\(ratio 2, empty source 1\)"):
        ingest(spec(train=train, filter=STRICT), "train", store)
    assert store.addresses(CORPORA) == []
    half = spec(train=write(tmp_path, "a", rows[:4]), filter=STRICT)
    assert ingest(half, "train", store).rows == 2
    repeated = spec(train=write(tmp_path, "a", rows[:1] * 5), filter={"deduplicate": True})
    assert ingest(repeated, "train", store).rows == 1  # duplicates are asked for


def test_address_is_of_content_and_settings(tmp_path: Path, store: Store) -> None:
    def made(split: str = "train", **settings: Any) -> str:
        return ingest(spec(**settings), split, store).address

    rows = [("Eins", "one"), ("Zwei", "two")]
    moved = write(tmp_path / "other", "b", rows)
    packed = {side: f"{path}.gz" for side, path in moved.items()}
    for side, path in moved.items():
        Path(packed[side]).write_bytes(gzip.compress(Path(path).read_bytes()))
    base = made(train=write(tmp_path, "a", rows))
    assert base == made(train=moved) == made(train=packed)
    assert cached_address(spec(train=moved), "train") == base
    others = {
        made(train={**moved, "first": 1}),
        made(train=moved, filter={"lowercase": True}),
        made(train=moved, every=2),
        made("valid", train=moved, every=2),
        made("a", tests={"a": moved}),
        made(train=moved, source_language="nl"),
        made(train={"source": moved["target"], "target": moved["source"]}),
        made(train=write(tmp_path, "a", [("Eins", "one"), ("Zwei", "Two")])),
    }
    assert len({base, *others}) == 9
    limits = {"max_length": 9, "deduplicate": True}
    assert made("a", tests={"a": moved}, filter=limits) in others


def test_an_interruption_leaves_nothing_that_counts(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus_spec = spec(
        train=write(tmp_path, "a", [(f"s{row}", f"t{row}") for row in range(45_000)])
    )
    write_shard = corpus.write_shard

    def stopped(folder: Any, name: str, table: pa.Table) -> None:
        if name == "part-00001.parquet":
            raise KeyboardInterrupt
        write_shard(folder, name, table)

    monkeypatch.setattr(corpus, "write_shard", stopped)
    with pytest.raises(KeyboardInterrupt):
        ingest(corpus_spec, "train", store)
    (address,) = store.addresses(CORPORA)
    with pytest.raises(UserError, match="incomplete"):
        Corpus.load(store, address).rows  # noqa: B018
    monkeypatch.undo()
    assert ingest(corpus_spec, "train", store).rows == 45_000
    assert Corpus.load(store, address).rows == 45_000


def test_overlap_counts_pairs_of_the_other_corpus(tmp_path: Path, store: Store) -> None:
    rows = [(f"s{row}", f"t{row}") for row in range(25_000)]
    test = [("s24999", "t24999"), ("s1", "t2"), ("s3", "t3"), ("s3", "t3"), ("neu", "new")]
    tests = {"b": write(tmp_path, "b", test), "c": write(tmp_path, "c", [("s7", "t7"), ("x", "y")])}
    corpus_spec = spec(train=write(tmp_path, "a", rows), tests=tests)
    train, *others = (ingest(corpus_spec, name, store) for name in ("train", "b", "c"))
    assert overlaps(train, others[:1]) == [3]
    assert overlaps(train, others) == [3, 1] and overlaps(train, []) == []


@pytest.mark.parametrize("folder", ["data", "mine"])
def test_missing_public_texts_name_the_variable(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AUGURY_DATA", raising=False)
    files = {"source": f"{folder}/a.de", "target": f"{folder}/a.en"}
    with pytest.raises(UserError) as error:
        cached_address(spec(train=files), "train")
    assert ("AUGURY_DATA is not set" in str(error.value)) == (folder == "data")
