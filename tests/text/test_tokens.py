"""Tokens in the store: counted while they are made, read as one text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from augury.core.executors import LocalExecutor
from augury.core.store import Folder, Store
from augury.corpora.corpus import CorpusWriter
from augury.text.tokens import Encode, Encoded, Text, Tokens, tokenise


@dataclass(frozen=True)
class Letters:
    """The first four letters of both columns; longer rows are counted."""

    name: str = "letters"
    size: int = 200

    def load(self) -> Encode:
        def encode(block: pa.Table, view: str) -> Encoded:
            rows = [
                [ord(letter) for text in pair.values() for letter in text]
                for pair in block.to_pylist()
            ]
            lengths = [min(len(row), 4) for row in rows]
            ids = np.array([letter for row in rows for letter in row[:4]], np.int64)
            return Encoded(
                ids,
                np.concatenate([[0], np.cumsum(lengths)]),
                {"cut": sum(len(row) > 4 for row in rows)},
            )

        return encode


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


def test_several_texts_are_read_as_one_and_what_was_counted_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    rows_by_text = {"a": [("ab", "c"), ("abc", "def"), ("x", "")], "b": [("abcde", "f")]}
    texts = {
        name: Text(corpus(store, name, rows, monkeypatch), ("first", "second"), "source")
        for name, rows in rows_by_text.items()
    }
    folders = {
        name: store.folder("tokens", text.address("letters")) for name, text in texts.items()
    }
    tokenise(texts, folders, Letters(), LocalExecutor())
    assert {name: folder.manifest()["counts"] for name, folder in folders.items()} == {
        "a": {"cut": 1},
        "b": {"cut": 1},
    }
    assert len(folders["a"].manifest()["shards"]) == 2
    tokens = Tokens(folders["a"], folders["b"])
    assert tokens.lengths.tolist() == [3, 4, 1, 4]
    words = ["".join(map(chr, tokens[row])) for row in range(len(tokens))]
    assert words == ["abc", "abcd", "x", "abcd"]


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
