"""Premise and hypothesis as one row of subwords, by a model's own tokenizer or one learned from the training text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from transformers import PreTrainedTokenizerBase

from augury import pretrained
from augury.store import Folder
from augury.text import learned
from augury.text.tokens import Encode, Encoded

TRUNCATED = "truncated"


@dataclass(frozen=True)
class Pieces:
    """The ids of pairs with the special ones that the model expects, at most `max_length` of them."""

    vocabulary: Folder
    max_length: int

    @property
    def name(self) -> str:
        return f"{self.vocabulary.name} {self.max_length}"

    @property
    def size(self) -> int:
        return len(self.tokenizer())

    def tokenizer(self) -> PreTrainedTokenizerBase:
        """The tokenizer itself."""
        return pretrained.tokenizer(learned.directory(self.vocabulary))

    def load(self) -> Encode:
        tokenizer = self.tokenizer()

        def encode(block: pa.Table, view: str) -> Encoded:
            premises, hypotheses = (block.column(place).to_pylist() for place in (0, 1))
            rows, truncated = pairs(tokenizer, premises, hypotheses, self.max_length)
            return Encoded.of(rows, {TRUNCATED: truncated})

        return encode


def pairs(
    tokenizer: PreTrainedTokenizerBase, premises: Sequence[str], hypotheses: Sequence[str], max_length: int
) -> tuple[list[list[int]], int]:
    """The ids of every pair, cut to `max_length` from the longer sentence first, and how many pairs were cut."""
    if not premises:
        return [], 0
    rows: list[list[int]] = tokenizer(list(premises), list(hypotheses), verbose=False).input_ids
    long = [row for row, ids in enumerate(rows) if len(ids) > max_length]
    for row in long:
        rows[row] = tokenizer(
            premises[row], hypotheses[row], truncation="longest_first", max_length=max_length
        ).input_ids
    return rows, len(long)
