"""Tokenizers that use a `transformers` tokenizer and truncate rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from augury.core.store import Folder
from augury.text.subwords import learned
from augury.text.tokens import Encode, Encoded

if TYPE_CHECKING:
    import pyarrow as pa
    from transformers import PreTrainedTokenizerBase

VERSION = 2
"""Raised when the same text becomes other ids; part of the addresses of tokens."""
TARGET = "target"
TRUNCATED = "truncated"


@dataclass(frozen=True)
class Subwords:
    """The tokenizer in a folder, which adds the special tokens of its model.

    At most `max_length` ids per row.
    """

    folder: Folder
    max_length: int

    @property
    def name(self) -> str:
        return f"{self.folder.name} {self.max_length} {VERSION}"

    @property
    def directory(self) -> str:
        """A local directory with the tokenizer, for `from_pretrained`."""
        return learned.directory(self.folder)

    @property
    def size(self) -> int:
        return len(self.tokenizer())

    def tokenizer(self) -> PreTrainedTokenizerBase:
        """Load the `transformers` tokenizer."""
        return learned.load(self.directory)

    def load(self) -> Encode:
        tokenizer = self.tokenizer()

        def encode_block(block: pa.Table, view: str) -> Encoded:
            rows, truncated = encode(
                tokenizer, [column.to_pylist() for column in block.columns], self.max_length, view
            )
            return Encoded.of(rows, {TRUNCATED: truncated})

        return encode_block


def encode(
    tokenizer: PreTrainedTokenizerBase,
    columns: Sequence[Sequence[str]],
    max_length: int,
    view: str = "source",
) -> tuple[list[list[int]], int]:
    """Encode rows, which are texts or pairs of texts.

    Return their ids and the number of rows truncated to a length.

    The longer text of a pair is truncated first; special tokens are kept. The view `target` is
    encoded with the target vocabulary of tokenizers that have one.
    """
    if not columns or not columns[0]:
        return [], 0
    names = ("text_target", "text_pair_target") if view == TARGET else ("text", "text_pair")
    texts = dict(zip(names, map(list, columns), strict=False))
    rows: list[list[int]] = tokenizer(**texts, verbose=False).input_ids
    long = [row for row, ids in enumerate(rows) if len(ids) > max_length]
    for row in long:
        text = {name: column[row] for name, column in texts.items()}
        rows[row] = tokenizer(**text, truncation="longest_first", max_length=max_length).input_ids
    return rows, len(long)
