"""Sources and targets as subwords, by a model's own tokenizer or one learned from the training text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from augury.regimes.regime import SOURCE, TARGET
from augury.text.subwords import Subwords

if TYPE_CHECKING:
    import pyarrow as pa
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True)
class Pieces(Subwords):
    """The ids of one column."""

    def rows(self, tokenizer: PreTrainedTokenizerBase, block: pa.Table, view: str) -> tuple[list[list[int]], int]:
        return pieces(tokenizer, block.column(0).to_pylist(), self.most, view)


def pieces(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], max_pieces: int, side: str = SOURCE
) -> tuple[list[list[int]], int]:
    """The ids of every text, and how many texts were cut to `max_pieces`, the end of the sentence staying the last."""
    if not texts:
        return [], 0
    inputs = {"text_target" if side == TARGET else "text": list(texts)}
    rows: list[list[int]] = tokenizer(**inputs, verbose=False).input_ids
    cut = [[*row[: max_pieces - 1], row[-1]] if len(row) > max_pieces else row for row in rows]
    return cut, sum(len(row) > max_pieces for row in rows)
