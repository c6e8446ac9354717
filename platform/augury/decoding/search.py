"""Beam search by any engine: its results, its batches, and that of a whole set, on this machine or
on Ray.

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
from augury.core.executors import Executor, LocalExecutor, Row, Task
from augury.core.progress import Stage
from augury.decoding.settings import Decoding

TASK_SENTENCES = 512


Hypothesis: TypeAlias = "tuple[int, ...]"
"""A translation of a source: its ids, without the end of sentence."""
Sources = Sequence[Sequence[int]]
"""Ids of every sentence, without the end of sentence."""
Search = Callable[[Sequence[Sources], Decoding, int], list[list[Hypothesis]]]
"""A function from sources, view by view, to as many of the best hypotheses of each sentence, best
first."""


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


def decode(
    make: Callable[[], Search],
    views: Sequence[Sources],
    decoding: Decoding,
    count: int = 1,
    *,
    executor: Executor | None = None,
    name: str = "decode",
    cpus: float = 1,
    gpus: float = 0,
) -> list[list[Hypothesis]]:
    """Return the `count` best hypotheses of every sentence.

    `make` is called once in every process that takes part. `views` has the sources of all
    sentences, view by view; `cpus` and `gpus` are what a process on Ray reserves.
    """
    sentences = list(zip(*views, strict=True))
    order = sorted(range(len(sentences)), key=lambda row: max(map(len, sentences[row])))
    chunks = [
        order[start : start + TASK_SENTENCES] for start in range(0, len(order), TASK_SENTENCES)
    ]
    rows = []
    for chunk in chunks:
        of_views = []
        for sources in views:
            of_views.append([list(sources[row]) for row in chunk])
        rows.append({"views": of_views})

    def make_task() -> Task:
        search = make()

        def task(row: Row) -> Row:
            # Plain values, as Ray Data takes no others.
            found = [list(map(list, best)) for best in search(row["views"], decoding, count)]
            return {"rows": len(found), "hypotheses": found}

        return task

    with Stage(name, len(sentences), "sentences") as stage:
        parts = (executor or LocalExecutor()).map(make_task, rows, stage, cpus=cpus, gpus=gpus)
    hypotheses: list[list[Hypothesis]] = [[] for _ in sentences]
    for chunk, part in zip(chunks, parts, strict=True):
        for row, best in zip(chunk, part["hypotheses"], strict=True):
            hypotheses[row] = list(map(tuple, best))
    return hypotheses
