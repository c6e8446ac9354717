"""Tokens in the store: counted while they are made, read as one text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from augury.core.execution import LocalExecutor
from augury.core.store import Folder, Store
from augury.corpora.corpus import CorpusWriter, shard_name, write_shard
from augury.text.tokens import Encode, Encoded, Text, Tokens, tokenise


def corpus(
    store: Store, name: str, rows: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> Folder:
    """A corpus in shards of two rows."""
    monkeypatch.setattr("augury.corpora.corpus.SHARD_ROWS", 2)
    writer = CorpusWriter(store.folder("corpora", name))
    writer.add(
        pa.table({"first": [first for first, _ in rows], "second": [second for _, second in rows]})
    )
    return writer.finish({}).folder


@dataclass(frozen=True)
class Letters:
    name: str = "letters"
    size: int = 200

    def load(self) -> Encode:
        def encode(block: pa.Table, view: str) -> Encoded:
            texts = block.column("first").to_pylist()
            ids = np.array([ord(letter) for text in texts for letter in text], np.int64)
            return Encoded(ids, np.cumsum([0, *map(len, texts)]), {"texts": len(texts)})

        return encode


def test_several_texts_are_read_as_one_and_what_was_counted_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, lines = Store(tmp_path), {"a": ["ab", "abc", "x"], "b": ["abcde"]}
    none = store.folder("corpora", "none")  # records of a block in which nothing matches
    write_shard(none, shard_name(0), pa.table({"first": pa.array([], pa.string())}))
    none.finish({"rows": 0, "shards": [shard_name(0)]})
    texts, folders = {"none": Text(none, ("first",), "source")}, {}
    folders["none"] = store.folder("tokens", texts["none"].address("letters"))
    for name, rows in lines.items():
        folder = corpus(store, name, [(row, "") for row in rows], monkeypatch)
        texts[name] = Text(folder, ("first",), "source")
        folders[name] = store.folder("tokens", texts[name].address("letters"))
    tokenise(texts, folders, Letters(), LocalExecutor())
    assert folders["a"].manifest()["counts"] == {"texts": 3}
    tokens = Tokens(folders["a"], folders["none"], folders["b"])
    read = ["".join(map(chr, tokens[row])) for row in range(len(tokens))]
    assert read == [*lines["a"], *lines["b"]] and tokens.lengths.tolist() == [2, 3, 1, 5]


@pytest.mark.parametrize("most", [1, 2, 3, 4, 6, 7, 100])
def test_of_many_rows_evenly_spaced_ones_are_read_whatever_the_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    rows = [(f"a{row}", f"b{row}") for row in range(7)]
    folder = corpus(Store(tmp_path), "text", rows, monkeypatch)
    step = next(step for step in range(1, 8) if len(rows[::step]) <= most)
    for column in ("first", "second"):
        lines = list(Text(folder, (column,), "source").lines(most))
        assert lines == [row[column == "second"] for row in rows[::step]]
