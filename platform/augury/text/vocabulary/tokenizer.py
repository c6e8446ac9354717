"""Tokenizer that encodes text with a learned vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from augury.core.store import Folder
from augury.text.tokens import Encode, Encoded


class Segments(Protocol):
    """A vocabulary: its size, and texts as concatenated ids with offsets."""

    def __len__(self) -> int: ...

    def encode(
        self, texts: pa.Array, view: str = ...
    ) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.int64]]: ...


@dataclass(frozen=True)
class VocabularyTokenizer:
    """Encodes one column as ids of a vocabulary, without `</s>`."""

    folder: Folder

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def size(self) -> int:
        return len(self._vocabulary())

    def load(self) -> Encode:
        vocabulary = self._vocabulary()

        def encode(block: pa.Table, view: str) -> Encoded:
            return Encoded(*vocabulary.encode(block.column(0).combine_chunks(), view))

        return encode

    def _vocabulary(self) -> Segments:
        from augury.text.vocabulary.vocabulary import Vocabulary

        return Vocabulary.load(self.folder)
