"""Base class of tokenizers that use a `transformers` tokenizer and truncate rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from augury.core.store import Folder
from augury.text import learned, pretrained
from augury.text.tokens import Encode, Encoded

if TYPE_CHECKING:
    import pyarrow as pa
    from transformers import PreTrainedTokenizerBase

TRUNCATED = "truncated"


@dataclass(frozen=True)
class Subwords(ABC):
    """The tokenizer in a folder, which adds the special tokens of its model; at most `most` ids per row."""

    folder: Folder
    most: int

    @property
    def name(self) -> str:
        return f"{self.folder.name} {self.most}"

    @property
    def size(self) -> int:
        return len(self.tokenizer())

    def tokenizer(self) -> PreTrainedTokenizerBase:
        """Load the `transformers` tokenizer."""
        return pretrained.tokenizer(learned.directory(self.folder))

    def load(self) -> Encode:
        tokenizer = self.tokenizer()

        def encode(block: pa.Table, view: str) -> Encoded:
            rows, truncated = self.rows(tokenizer, block, view)
            return Encoded.of(rows, {TRUNCATED: truncated})

        return encode

    @abstractmethod
    def rows(self, tokenizer: PreTrainedTokenizerBase, block: pa.Table, view: str) -> tuple[list[list[int]], int]:
        """Return the ids of each row of a block of text, and the number of truncated rows."""
