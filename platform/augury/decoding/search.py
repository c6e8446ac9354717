"""Beam search and sampling of sources: what they give, and the lengths that they read.

A hypothesis is worth the sum of its log-probabilities divided by its length to the power of the
length penalty; both count the end of sentence. This is fairseq's score and not the ((5 + n) / 6)^a
of Wu et al. (2016). A search ends at `beam` hypotheses, none of them empty. Two things differ from
fairseq: probabilities are normalised over the subwords that may be produced, and a hypothesis at
the maximum length is cut without an end of sentence.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from augury.core.errors import UserError
from augury.decoding.settings import Decoding

Hypothesis: TypeAlias = "tuple[int, ...]"
"""A translation of a source: its ids, without the end of sentence."""
Sources = Sequence[Sequence[int]]
"""Ids of every sentence, without the end of sentence."""
Search = Callable[[Sources, Decoding], list[Hypothesis]]
"""A function from sources to the best hypothesis of each."""


def check_lengths(sources: Sequence[Sequence[int]], decoding: Decoding, positions: int) -> None:
    """Raise UserError where a source, or `max_length`, exceeds the model's positions."""
    if decoding.max_length > positions:
        raise UserError(
            f"max_length {decoding.max_length} is more than the model's {positions} positions: "
            "lower decoding.max_length or train with larger model.max_positions"
        )
    long = [row for row, source in enumerate(sources) if len(source) >= positions]
    if long:
        raise UserError(
            f"{len(long)} of {len(sources)} sources exceed the model's {positions} positions, end "
            f"of sentence included; the first is number {long[0] + 1} with "
            f"{len(sources[long[0]])} pieces: split or shorten them, or train with larger "
            "model.max_positions"
        )


def positions(config: Any) -> int:
    """Return the number of positions of a model of `transformers`; a large one where they are
    relative."""
    encoder = getattr(config, "encoder", config)
    return int(getattr(encoder, "max_position_embeddings", None) or sys.maxsize)


def batches_by_length(sources: Sequence[Sequence[int]], batch_tokens: int) -> Iterator[list[int]]:
    """Yield rows of non-empty sources, longest first, in batches of at most `batch_tokens` tokens.

    Padding and the end of sentence count. A source longer than `batch_tokens` is a batch alone.
    """
    rows = [row for row, source in enumerate(sources) if source]
    rows.sort(key=lambda row: len(sources[row]), reverse=True)
    start = 0
    while start < len(rows):
        longest = len(sources[rows[start]]) + 1
        size = max(1, batch_tokens // longest)
        yield rows[start : start + size]
        start += size


def of_readable(
    sources: Sources, most: int, write: Callable[[list[int]], Sequence[str]]
) -> list[str | None]:
    """Return what `write` makes of the rows of sources with 1 to `most` ids; for longer sources
    None, and an empty output where there is nothing to read."""
    rows = [row for row, source in enumerate(sources) if 0 < len(source) <= most]
    outputs = dict(zip(rows, write(rows), strict=True))
    return [outputs.get(row, None if source else "") for row, source in enumerate(sources)]
