"""Tokenizer that encodes text with a learned vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from augury.core.store import Folder
from augury.text.tokens import Encode, Encoded

if TYPE_CHECKING:
    from augury.text.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True)
class VocabularyTokenizer:
    """Encodes one column as ids of a vocabulary, without `</s>`."""

    folder: Folder

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def size(self) -> int:
        return len(self._vocabulary().pieces)

    def load(self) -> Encode:
        vocabulary = self._vocabulary()

        def encode(block: pa.Table, view: str) -> Encoded:
            return Encoded(*vocabulary.encode(block.column(0).combine_chunks(), view))

        return encode

    def _vocabulary(self) -> Vocabulary:
        from augury.text.vocabulary.vocabulary import Vocabulary

        return Vocabulary.load(self.folder)
