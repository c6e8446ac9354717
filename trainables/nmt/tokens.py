"""Tokenised text in the store: memory-mapped ids, shard by shard."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from augury import config
from augury.corpora.corpus import read_shard
from augury.execution import Executor
from augury.locks import making
from augury.progress import Stage
from augury.store import Folder
from augury.text.vocabulary import Vocabulary

KIND = "tokens"


class Text(NamedTuple):
    """One column of text in shards: where it lies, and as which view the vocabulary reads it."""

    folder: Folder
    column: str
    view: str

    def address(self, vocabulary: Folder) -> str:
        """The name of its tokens."""
        return config.address(
            {
                "text": self.folder.name,
                "column": self.column,
                "view": self.view,
                "vocabulary": vocabulary.name,
                "version": 1,
            }
        )

    def lines(self) -> Iterator[str]:
        """The text, one sentence at a time; can be read again and again."""
        for shard in self.folder.manifest()["shards"]:
            yield from read_shard(self.folder, shard, [self.column]).column(self.column).to_pylist()


def tokenise(texts: Mapping[str, Text], folders: Mapping[str, Folder], vocabulary: Folder, executor: Executor) -> None:
    """Make the tokens of every text in the folder of the same name, where they are missing."""
    with making([folders[name] for name in texts]) as unmade:
        missing = {name: text for name, text in texts.items() if folders[name] in unmade}
        manifests = {name: text.folder.manifest() for name, text in missing.items()}
        items = [(text, folders[name], shard) for name, text in missing.items() for shard in manifests[name]["shards"]]
        if items:
            with Stage("tokenise", sum(manifest["rows"] for manifest in manifests.values())) as stage:
                executor.map(_Tokenise(vocabulary), items, stage, size=lambda rows: rows)
        for name, text in missing.items():
            folders[name].finish(
                {
                    "rows": manifests[name]["rows"],
                    "shards": manifests[name]["shards"],
                    "inputs": [text.folder.name, vocabulary.name],
                    "column": text.column,
                    "view": text.view,
                }
            )


@dataclass(frozen=True)
class _Tokenise:
    """Makes the task that writes the ids and offsets of one shard of one text."""

    vocabulary: Folder

    def __call__(self) -> Callable[[tuple[Text, Folder, str]], int]:
        vocabulary = Vocabulary.load(self.vocabulary)

        def tokenise(item: tuple[Text, Folder, str]) -> int:
            text, folder, shard = item
            column = read_shard(text.folder, shard, [text.column]).column(text.column)
            ids, offsets = vocabulary.encode(column.combine_chunks(), text.view)
            small = np.uint16 if len(vocabulary.pieces) <= 1 << 16 else np.int32
            for suffix, array in (("ids", ids.astype(small)), ("offsets", offsets)):
                buffer = io.BytesIO()
                np.save(buffer, array)
                folder.write(f"{shard}.{suffix}.npy", buffer.getvalue())
            return len(offsets) - 1

        return tokenise


class Tokens:
    """The ids of every row, without end of sentence; nothing is read before it is asked for."""

    def __init__(self, folder: Folder):
        manifest, directory = folder.manifest(), folder.local()
        self._ids = [np.load(directory / f"{shard}.ids.npy", mmap_mode="r") for shard in manifest["shards"]]
        self._offsets = [np.load(directory / f"{shard}.offsets.npy") for shard in manifest["shards"]]
        self._first_row = np.cumsum([0] + [len(offsets) - 1 for offsets in self._offsets])

    def __len__(self) -> int:
        return int(self._first_row[-1])

    @cached_property
    def lengths(self) -> np.ndarray:
        """Pieces of every row, (rows,)."""
        parts = [np.diff(offsets) for offsets in self._offsets]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    def __getitem__(self, row: int) -> np.ndarray:
        shard = int(np.searchsorted(self._first_row, row, side="right")) - 1
        local = row - self._first_row[shard]
        start, end = self._offsets[shard][local : local + 2]
        return np.asarray(self._ids[shard][start:end])
