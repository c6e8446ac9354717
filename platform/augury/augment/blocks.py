"""The blocks of a corpus, to which operators are applied one by one."""

from __future__ import annotations

from typing import NamedTuple

from augury.augment.operator import Operator
from augury.corpora.corpus import SHARD_ROWS, Corpus, shard_metadata

BLOCK_SECONDS = 1.0
"""How long a block may take one core: with few long ones, some cores wait for the last."""
FEWEST_ROWS = 1_000
"""Of a block whose size its operator does not set: every block is a file."""


class Block(NamedTuple):
    """Rows of a shard of the corpus, and the name of the shard that is made from them."""

    shard: str
    start: int
    stop: int
    name: str


def block_rows(operator: Operator) -> int | None:
    """Return the maximum number of records in a block of an operator; None: a whole shard."""
    rows = max(FEWEST_ROWS, int(operator.PER_SECOND * BLOCK_SECONDS))
    return operator.BLOCK_ROWS or (rows if rows < SHARD_ROWS else None)


def split_into_blocks(corpus: Corpus, max_rows: int | None) -> list[Block]:
    """Return the blocks of a corpus: whole shards, or parts of at most `max_rows` rows."""
    blocks = []
    for shard in corpus.shards:
        if max_rows is None:
            blocks.append(Block(shard, 0, SHARD_ROWS, shard))
            continue
        rows = shard_metadata(corpus.folder, shard).num_rows
        stem = shard.removesuffix(".parquet")
        for start in range(0, rows, max_rows):
            stop = min(start + max_rows, rows)
            blocks.append(Block(shard, start, stop, f"{stem}-{start:06d}.parquet"))
    return blocks
