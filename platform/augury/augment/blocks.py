"""The blocks of a corpus, to which operators are applied one by one."""

from __future__ import annotations

from typing import NamedTuple

from augury.corpora.corpus import Corpus, shard_metadata


class Block(NamedTuple):
    """Rows of a shard of the corpus, and the name of the shard that is made from them."""

    shard: str
    start: int
    rows: int | None
    """The maximum number of rows; None: to the end."""
    name: str


def split_into_blocks(corpus: Corpus, max_rows: int | None) -> list[Block]:
    """Return the blocks of a corpus: whole shards, or parts of at most `max_rows` rows."""
    if max_rows is None:
        return [Block(shard, 0, None, shard) for shard in corpus.shards]
    blocks = []
    for shard in corpus.shards:
        rows = shard_metadata(corpus.folder, shard).num_rows
        stem = shard.removesuffix(".parquet")
        blocks += [
            Block(shard, start, max_rows, f"{stem}-{start:06d}.parquet")
            for start in range(0, rows, max_rows)
        ]
    return blocks
