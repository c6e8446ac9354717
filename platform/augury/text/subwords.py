"""Text as the subwords of a model's own tokenizer, or of one learned from the training text, cut to a length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from augury.core.store import Folder
from augury.text import learned, pretrained
from augury.text.tokens import Encode, Encoded

if TYPE_CHECKING:
    import pyarrow as pa
    from transformers import PreTrainedTokenizerBase

TARGET = "target"
TRUNCATED = "truncated"


@dataclass(frozen=True)
class Subwords:
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

        def encode_block(block: pa.Table, view: str) -> Encoded:
            rows, truncated = encode(tokenizer, [column.to_pylist() for column in block.columns], self.most, view)
            return Encoded.of(rows, {TRUNCATED: truncated})

        return encode_block


def encode(
    tokenizer: PreTrainedTokenizerBase, columns: Sequence[Sequence[str]], most: int, view: str = "source"
) -> tuple[list[list[int]], int]:
    """Return the ids of every row, a text or a pair of texts, and how many rows were cut to `most` ids.

    The longer text of a pair is cut first; special ids stay. The view `target` has the pieces of the target side, where
    the tokenizer has a vocabulary for each.
    """
    if not columns or not columns[0]:
        return [], 0
    names = ("text_target", "text_pair_target") if view == TARGET else ("text", "text_pair")
    texts = dict(zip(names, map(list, columns), strict=False))
    rows: list[list[int]] = tokenizer(**texts, verbose=False).input_ids
    long = [row for row, ids in enumerate(rows) if len(ids) > most]
    for row in long:
        of_row = {name: column[row] for name, column in texts.items()}
        rows[row] = tokenizer(**of_row, truncation="longest_first", max_length=most).input_ids
    return rows, len(long)
