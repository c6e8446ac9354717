"""Premise and hypothesis as one row of subwords, by a model's own tokenizer or one learned from the training text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from augury.text.subwords import Subwords

if TYPE_CHECKING:
    import pyarrow as pa
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True)
class Pieces(Subwords):
    """The ids of pairs."""

    def rows(self, tokenizer: PreTrainedTokenizerBase, block: pa.Table, view: str) -> tuple[list[list[int]], int]:
        premises, hypotheses = (block.column(place).to_pylist() for place in (0, 1))
        return pairs(tokenizer, premises, hypotheses, self.most)


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
