"""Tokens in the store: counted while they are made, read as one text."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from augury.core.store import Folder, Store
from augury.corpora.corpus import CorpusWriter
from augury.text.tokens import Text


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
