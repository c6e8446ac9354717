"""Batches by token budget, planned as a pure function of epoch, seed and world size.

A plan is a list of updates; an update is, for every rank, a list of batches; a batch is an array of example numbers.
Every example is in exactly one batch. All ranks compute the same plan and take their part of it, so that they take
equally many steps without a word between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from augury.errors import UserError
from augury.rng import generator

Batch = np.ndarray  # (examples,) int64


@dataclass(frozen=True)
class Lengths:
    """Tokens of every example: `sources` the longest view, `targets` the target; (examples,) int each."""

    sources: np.ndarray
    targets: np.ndarray

    @property
    def cost(self) -> np.ndarray:
        """The length that an example takes in a padded batch."""
        return np.maximum(self.sources, self.targets)


def plan_epoch(
    lengths: Lengths,
    *,
    max_tokens: int,
    max_examples: int | None = None,
    seed: int,
    epoch: int,
    world: int = 1,
    accumulation: int = 1,
) -> list[list[list[Batch]]]:
    """The updates of an epoch, equally many in every one: `plan[update][rank]` lists that rank's batches.

    The last update may hold fewer than `accumulation` batches per rank, but as many on every rank: where the number of
    batches does not divide by the world size, the largest ones are split. UserError if an example exceeds the budget,
    or if there are fewer examples than ranks.
    """
    batches = _cut(lengths, max_tokens, max_examples or len(lengths.cost), generator(seed, "batches", epoch))
    batches = _divisible(batches, world)
    generator(seed, "order of batches", epoch).shuffle(batches)
    per_update = world * accumulation
    updates = [batches[start : start + per_update] for start in range(0, len(batches), per_update)]
    return [[update[rank::world] for rank in range(world)] for update in updates]


def padded(rows: Sequence[Sequence[int]], pad: int, width: int | None = None) -> np.ndarray:
    """Rows of ids as one array (rows, width), padded on the right; by default as wide as the longest row."""
    array = np.full((len(rows), width or max(map(len, rows))), pad, np.int64)
    for index, ids in enumerate(rows):
        array[index, : len(ids)] = ids
    return array


def _cut(lengths: Lengths, max_tokens: int, max_examples: int, random: np.random.Generator) -> list[Batch]:
    """Examples sorted by length, equal ones in another order every epoch, cut where a limit is reached."""
    cost = lengths.cost
    if len(cost) == 0:
        raise UserError("there are no training examples: look at the rejected rows in the corpus manifest")
    if int(cost.max()) > max_tokens:
        raise UserError(
            f"an example of {int(cost.max())} tokens does not fit training.max_tokens={max_tokens}: "
            f"raise it to {int(cost.max())} or lower corpus.filter.max_length"
        )
    order = np.lexsort((random.random(len(cost)), lengths.targets, cost))
    batches, start, longest = [], 0, 0
    for end, length in enumerate(cost[order].tolist()):
        if max(longest, length) * (end - start + 1) > max_tokens or end - start == max_examples:
            batches.append(order[start:end])
            start, longest = end, 0
        longest = max(longest, length)
    batches.append(order[start:])
    return batches


def _divisible(batches: list[Batch], world: int) -> list[Batch]:
    while len(batches) % world:
        batches.sort(key=len)
        largest = batches.pop()
        if len(largest) < 2:
            examples = sum(map(len, batches)) + 1
            raise UserError(f"{examples} examples cannot be shared among {world} workers: set training.workers=1")
        middle = len(largest) // 2
        batches += [largest[:middle], largest[middle:]]
    return batches
