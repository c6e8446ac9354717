"""Tokenised text in the store: memory-mapped ids, shard by shard."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from augury.core import config
from augury.core.execution import Executor
from augury.core.locks import lock_incomplete
from augury.core.progress import Stage
from augury.core.store import Folder
from augury.corpora.corpus import read_shard

KIND = "tokens"


class Text(NamedTuple):
    """Text in shards: its folder, the column, or columns read together, and the view that it is tokenised as."""

    folder: Folder
    columns: tuple[str, ...]
    view: str

    def address(self, tokenizer: str) -> str:
        """Return the address of its tokens by the tokenizer of this name."""
        column = self.columns[0] if len(self.columns) == 1 else list(self.columns)
        return config.address(
            {"text": self.folder.name, "column": column, "view": self.view, "vocabulary": tokenizer, "version": 1}
        )

    def lines(self) -> Iterator[str]:
        """Yield the text, one sentence at a time, the columns one after the other."""
        for shard in self.folder.manifest()["shards"]:
            block = read_shard(self.folder, shard, self.columns)
            for column in self.columns:
                yield from block.column(column).to_pylist()


class Encoded(NamedTuple):
    """The ids of a block: row r is `ids[offsets[r]:offsets[r + 1]]`; `counts` are numbers of rows, such as cut ones."""

    ids: np.ndarray
    offsets: np.ndarray
    counts: Mapping[str, int] = {}

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]], counts: Mapping[str, int]) -> Encoded:
        """Return the ids of these rows as a block."""
        lengths = np.array([len(row) for row in rows], np.int64)
        ids = np.fromiter(chain.from_iterable(rows), np.int64, int(lengths.sum()))
        return cls(ids, np.concatenate([[0], np.cumsum(lengths)]), counts)


Encode = Callable[[pa.Table, str], Encoded]
"""A function from the columns of a text and its view to ids."""


class Tokenizer(Protocol):
    """Encodes text as ids; can be sent to another process, where `load` is called once."""

    @property
    def folder(self) -> Folder:
        """Its folder, which may not be written yet."""

    @property
    def name(self) -> str:
        """A name that identifies it."""

    @property
    def size(self) -> int:
        """One more than the largest id."""

    def load(self) -> Encode: ...


def tokenise(
    texts: Mapping[str, Text], folders: Mapping[str, Folder], tokenizer: Tokenizer, executor: Executor
) -> None:
    """Make the tokens of every text in the folder of the same name, where they are missing."""
    with lock_incomplete([folders[name] for name in texts]) as unmade:
        missing = {name: text for name, text in texts.items() if folders[name] in unmade}
        manifests = {name: text.folder.manifest() for name, text in missing.items()}
        items = [(name, shard) for name, manifest in manifests.items() for shard in manifest["shards"]]
        counts = {name: Counter[str]() for name in missing}
        if items:
            work = [(missing[name], folders[name], shard) for name, shard in items]
            with Stage("tokenise", sum(manifest["rows"] for manifest in manifests.values())) as stage:
                results = executor.map(_Tokenise(tokenizer), work, stage, size=lambda done: done[0])
            for (name, _), (_, counts_of_shard) in zip(items, results, strict=True):
                counts[name].update(counts_of_shard)
        for name, text in missing.items():
            folders[name].finish(
                {
                    "rows": manifests[name]["rows"],
                    "shards": manifests[name]["shards"],
                    "inputs": [text.folder.name, tokenizer.name],
                    "columns": list(text.columns),
                    "view": text.view,
                    "counts": dict(counts[name]),
                }
            )


@dataclass(frozen=True)
class _Tokenise:
    """Makes the task that writes the ids and offsets of one shard of one text, and returns its rows and counts."""

    tokenizer: Tokenizer

    def __call__(self) -> Callable[[tuple[Text, Folder, str]], tuple[int, Mapping[str, int]]]:
        encode = self.tokenizer.load()
        small = np.uint16 if self.tokenizer.size <= 1 << 16 else np.int32

        def tokenise(item: tuple[Text, Folder, str]) -> tuple[int, Mapping[str, int]]:
            text, folder, shard = item
            ids, offsets, counts = encode(read_shard(text.folder, shard, text.columns), text.view)
            for suffix, array in (("ids", ids.astype(small)), ("offsets", offsets)):
                buffer = io.BytesIO()
                np.save(buffer, array)
                folder.write(f"{shard}.{suffix}.npy", buffer.getvalue())
            return len(offsets) - 1, counts

        return tokenise


class Tokens:
    """The ids of every row of one text, or of several that follow one another; no id is read before it is asked for."""

    def __init__(self, *folders: Folder):
        shards = [folder.local() / shard for folder in folders for shard in folder.manifest()["shards"]]
        self._ids = [np.load(f"{shard}.ids.npy", mmap_mode="r") for shard in shards]
        self._offsets = [np.load(f"{shard}.offsets.npy") for shard in shards]
        self._first_row = np.cumsum([0] + [len(offsets) - 1 for offsets in self._offsets])

    def __len__(self) -> int:
        return int(self._first_row[-1])

    @cached_property
    def lengths(self) -> np.ndarray:
        """Pieces of every row, (rows,)."""
        parts = [np.diff(offsets) for offsets in self._offsets]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    def shards(self) -> Iterator[np.ndarray]:
        """Yield the ids of all rows of a shard, end to end."""
        return iter(self._ids)

    def __getitem__(self, row: int) -> np.ndarray:
        shard = int(np.searchsorted(self._first_row, row, side="right")) - 1
        local = row - self._first_row[shard]
        start, end = self._offsets[shard][local : local + 2]
        return np.asarray(self._ids[shard][start:end])
