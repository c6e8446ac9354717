"""One or two sentences as one row of subwords, by a model's own tokenizer or one learned from the training text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from augury.text.subwords import Subwords

if TYPE_CHECKING:
    import pyarrow as pa
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True)
class ClassifierPieces(Subwords):
    """The ids of rows of one or two sentences."""

    def rows(self, tokenizer: PreTrainedTokenizerBase, block: pa.Table, view: str) -> tuple[list[list[int]], int]:
        return encode(tokenizer, [column.to_pylist() for column in block.columns], self.most)


def encode(
    tokenizer: PreTrainedTokenizerBase, columns: Sequence[Sequence[str]], max_length: int
) -> tuple[list[list[int]], int]:
    """Return the ids of every row, cut to `max_length` from the longer sentence first, and how many rows were cut."""
    if not columns or not columns[0]:
        return [], 0
    rows: list[list[int]] = tokenizer(*map(list, columns), verbose=False).input_ids
    long = [row for row, ids in enumerate(rows) if len(ids) > max_length]
    for row in long:
        sentences = [column[row] for column in columns]
        rows[row] = tokenizer(*sentences, truncation="longest_first", max_length=max_length).input_ids
    return rows, len(long)
