"""Text as the subwords of a model's own tokenizer, or of one learned from the training text, cut to a length."""

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
    """The tokenizer in a folder, with the special ids that its model expects; at most `most` ids a row."""

    folder: Folder
    most: int

    @property
    def name(self) -> str:
        return f"{self.folder.name} {self.most}"

    @property
    def size(self) -> int:
        return len(self.tokenizer())

    def tokenizer(self) -> PreTrainedTokenizerBase:
        """Return the tokenizer of `transformers`."""
        return pretrained.tokenizer(learned.directory(self.folder))

    def load(self) -> Encode:
        tokenizer = self.tokenizer()

        def encode(block: pa.Table, view: str) -> Encoded:
            rows, truncated = self.rows(tokenizer, block, view)
            return Encoded.of(rows, {TRUNCATED: truncated})

        return encode

    @abstractmethod
    def rows(self, tokenizer: PreTrainedTokenizerBase, block: pa.Table, view: str) -> tuple[list[list[int]], int]:
        """Return the ids of every row of a block of text, and the number of rows that were cut."""
