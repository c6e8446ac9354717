"""Sources and targets as subwords, by a model's own tokenizer or one learned from the training text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from transformers import PreTrainedTokenizerBase

from augury import pretrained
from augury.regimes.regime import SOURCE, TARGET
from augury.store import Folder
from augury.text import learned
from augury.text.tokens import Encode, Encoded

TRUNCATED = "truncated"


@dataclass(frozen=True)
class Pieces:
    """The ids of one column with the special ones that the model expects, at most `max_pieces` of them."""

    vocabulary: Folder
    max_pieces: int

    @property
    def name(self) -> str:
        return f"{self.vocabulary.name} {self.max_pieces}"

    @property
    def size(self) -> int:
        return len(self.tokenizer())

    def tokenizer(self) -> PreTrainedTokenizerBase:
        """The tokenizer itself."""
        return pretrained.tokenizer(learned.directory(self.vocabulary))

    def load(self) -> Encode:
        tokenizer = self.tokenizer()

        def encode(block: pa.Table, view: str) -> Encoded:
            rows, truncated = pieces(tokenizer, block.column(0).to_pylist(), self.max_pieces, view)
            return Encoded.of(rows, {TRUNCATED: truncated})

        return encode


def pieces(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], max_pieces: int, side: str = SOURCE
) -> tuple[list[list[int]], int]:
    """The ids of every text, and how many texts were cut to `max_pieces`, the end of the sentence staying the last."""
    if not texts:
        return [], 0
    given = {"text_target" if side == TARGET else "text": list(texts)}
    rows: list[list[int]] = tokenizer(**given, verbose=False).input_ids
    cut = [[*row[: max_pieces - 1], row[-1]] if len(row) > max_pieces else row for row in rows]
    return cut, sum(len(row) > max_pieces for row in rows)
