"""Tokenised text in the store, as memory-mapped shards of ids."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from augury.core import config
from augury.core.execution import Executor, Item, ItemFunction
from augury.core.integrity import Checksum
from augury.core.locks import lock_incomplete
from augury.core.progress import ProgressLine
from augury.core.store import Folder
from augury.corpora.corpus import read_shard

TOKENS = "tokens"
SUFFIX = ".arrow"
"""Of the file of a shard: rows of ids in Arrow's own format, which is read where it lies."""


class Text(NamedTuple):
    """Text to tokenise: a folder of shards, the column or columns to read, and the name of the
    view."""

    folder: Folder
    columns: tuple[str, ...]
    view: str

    def address(self, tokenizer: str) -> str:
        """Return the address of its tokens, given the name of the tokenizer."""
        column = self.columns[0] if len(self.columns) == 1 else list(self.columns)
        text = {"text": self.folder.name, "column": column, "view": self.view}
        return config.address({**text, "vocabulary": tokenizer, "version": 2})

    def lines(self, most: int | None = None) -> Iterator[str]:
        """Yield all sentences, shard by shard and column by column; of more than `most` rows every
        n-th, with the smallest n that leaves no more.

        Texts with as many rows, such as views of a corpus, keep the same ones.
        """
        manifest = self.folder.manifest()
        step, first = -(-manifest["rows"] // most) if most else 1, 0
        for shard in manifest["shards"]:
            block = read_shard(self.folder, shard, self.columns)
            rows = pa.array(np.arange(first, len(block), step))
            first += len(rows) * step - len(block)
            for column in self.columns:
                yield from block.column(column).take(rows).to_pylist()


class Encoded(NamedTuple):
    """The ids of a block: row r is `ids[offsets[r]:offsets[r + 1]]`; `counts` has statistics
    such as truncated rows."""

    ids: np.ndarray
    offsets: np.ndarray
    counts: Mapping[str, int] = {}

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]], counts: Mapping[str, int]) -> Encoded:
        """Return rows of ids as a block."""
        lengths = np.array([len(row) for row in rows], np.int64)
        ids = np.fromiter(chain.from_iterable(rows), np.int64, int(lengths.sum()))
        return cls(ids, np.concatenate([[0], np.cumsum(lengths)]), counts)


Encode: TypeAlias = "Callable[[pa.Table, str], Encoded]"
"""Encodes the columns of a text, given the name of its view."""


class Tokenizer(Protocol):
    """Encodes text as ids; can be pickled, and is loaded once in each process."""

    @property
    def folder(self) -> Folder:
        """The folder of the tokenizer, which need not exist yet."""

    @property
    def name(self) -> str:
        """A unique name."""

    @property
    def size(self) -> int:
        """The number of ids."""

    def load(self) -> Encode: ...


def tokenise(
    texts: Mapping[str, Text],
    folders: Mapping[str, Folder],
    tokenizer: Tokenizer,
    executor: Executor,
) -> None:
    """Tokenise all texts whose folders, by the same names, are not complete."""
    with lock_incomplete([folders[name] for name in texts]) as incomplete:
        missing = {name: text for name, text in texts.items() if folders[name] in incomplete}
        manifests = {name: text.folder.manifest() for name, text in missing.items()}
        counts = {name: Counter[str]() for name in missing}
        written: dict[str, dict[str, Checksum]] = {name: {} for name in missing}
        work = []
        for name, manifest in manifests.items():
            for shard in manifest["shards"]:
                work.append({"text": name, "shard": shard})
        if work:
            rows = sum(manifest["rows"] for manifest in manifests.values())
            with ProgressLine("tokenise", rows) as progress:
                made = executor.map(partial(_writer, tokenizer, missing, folders), work, progress)
            for item, shard in zip(work, made, strict=True):
                counts[item["text"]].update(json.loads(shard["counts"]))
                file = shard["file"]
                written[item["text"]][file["name"]] = (file["size"], file["checksum"])
        for name, text in missing.items():
            folders[name].finish(
                {
                    "rows": manifests[name]["rows"],
                    "shards": manifests[name]["shards"],
                    "inputs": [text.folder.name, tokenizer.name],
                    "columns": list(text.columns),
                    "view": text.view,
                    "counts": dict(counts[name]),
                },
                files=written[name],
                known=written[name],
            )


def _writer(
    tokenizer: Tokenizer, texts: Mapping[str, Text], folders: Mapping[str, Folder]
) -> ItemFunction:
    """Return the function that writes the ids of a shard of a text, and returns its `counts` as
    JSON and its `file`."""
    encode = tokenizer.load()
    dtype = np.uint16 if tokenizer.size <= 1 << 16 else np.int32

    def write(item: Item) -> Item:
        text, folder, shard = texts[item["text"]], folders[item["text"]], item["shard"]
        ids, offsets, counts = encode(read_shard(text.folder, shard, text.columns), text.view)
        rows = pa.ListArray.from_arrays(offsets.astype(np.int32), ids.astype(dtype))
        table, file = pa.table({"ids": rows}), f"{shard}{SUFFIX}"
        buffer = io.BytesIO()
        with pa.ipc.new_file(buffer, table.schema) as stream:
            stream.write_table(table)
        size, checksum = folder.write(file, buffer.getvalue())
        return {
            "rows": len(rows),
            "counts": json.dumps(counts),
            "file": {"name": file, "size": size, "checksum": checksum},
        }

    return write


class Tokens:
    """The ids of all rows of one or more concatenated texts, read lazily."""

    def __init__(self, *folders: Folder):
        self._ids: list[np.ndarray] = []
        self._offsets: list[np.ndarray] = []
        for folder in folders:
            directory = folder.local()
            for shard in folder.manifest()["shards"]:
                file = pa.memory_map(str(directory / f"{shard}{SUFFIX}"))
                # One chunk, or none where the shard has no rows.
                for rows in pa.ipc.open_file(file).read_all().column(0).chunks:
                    self._ids.append(rows.values.to_numpy())
                    self._offsets.append(rows.offsets.to_numpy())
        self._first_row = np.cumsum([0] + [len(offsets) - 1 for offsets in self._offsets])

    def __len__(self) -> int:
        return int(self._first_row[-1])

    @cached_property
    def lengths(self) -> np.ndarray:
        """The number of ids of each row, (rows,)."""
        parts = [np.diff(offsets) for offsets in self._offsets]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    def shards(self) -> Iterator[np.ndarray]:
        """Yield the concatenated ids of each shard."""
        return iter(self._ids)

    def __getitem__(self, row: int) -> np.ndarray:
        shard = int(np.searchsorted(self._first_row, row, side="right")) - 1
        local = row - self._first_row[shard]
        start, end = self._offsets[shard][local : local + 2]
        return np.asarray(self._ids[shard][start:end])
