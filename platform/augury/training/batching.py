"""Batches by token budget, planned as a pure function of epoch, seed and world size.

An epoch reads every training row once, under one of the view groups of the regime, such as the
plain source with one cipher. As many epochs as there are groups read every row under each of them.
A batch never holds a row twice. A plan is a list of updates; an update is a list of batches for
every rank; a batch is an array of example numbers. All ranks compute the same plan and take their
part of it, which needs no communication.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from augury.core.errors import UserError
from augury.core.naming import counted
from augury.core.rng import generator

Batch: TypeAlias = "np.ndarray"  # (examples,) int64
Order = Literal["length", "random"]


@dataclass(frozen=True)
class Lengths:
    """The tokens of every row's plain text, without views: sources and targets, (rows,) int.

    The budget of a batch is counted on them alone, so that an update reads as many rows under every
    regime.
    """

    sources: np.ndarray
    targets: np.ndarray

    @property
    def cost(self) -> np.ndarray:
        """The length that a row takes in a padded batch."""
        return np.maximum(self.sources, self.targets)


def batches_by_length(lengths: Lengths, max_tokens: int) -> list[Batch]:
    """Return batches of rows of similar length that hold every row once, as for validation."""
    batches = []
    for update in plan_epoch(lengths, max_tokens=max_tokens, seed=0, epoch=0):
        batches += update[0]
    return batches


def plan_epoch(
    lengths: Lengths,
    *,
    max_tokens: int,
    max_examples: int | None = None,
    order: Order = "length",
    seed: int,
    epoch: int,
    groups: Sequence[int] | None = None,
    weights: np.ndarray | None = None,
    world: int = 1,
    accumulation: int = 1,
) -> list[list[list[Batch]]]:
    """Return the updates of an `epoch` (from 0): `plan[update][rank]` lists a rank's batches.

    `groups` gives the number of rows that every view group has, the first ones; without it there is
    one group of all rows. Example number g · rows + r is row r under group g. `weights`
    (rows,) says how often the epoch reads each row (`copies`), never twice in a batch; without it
    each once. `order` is `length` (rows of similar length in a batch, equally long ones and the
    batches in random order) or `random` (all rows). The last update may hold fewer than
    `accumulation` batches per rank, but as many on every rank: where the number of batches does not
    divide by the world size, the largest ones are split. Raises UserError if a row exceeds the
    budget, or if there are fewer rows than ranks.
    """
    if len(lengths.cost) == 0:
        raise UserError(
            "there are no training examples: look at the rejected rows in the corpus manifest"
        )
    longest = int(lengths.cost.max())
    if longest > max_tokens:
        raise UserError(
            f"an example of {longest} tokens does not fit training.max_tokens={max_tokens}: raise "
            f"it to {longest} or lower corpus.filter.max_length"
        )
    chosen = _chosen_groups(len(lengths.cost), groups or [len(lengths.cost)], seed, epoch)
    counts = np.ones(len(chosen), np.int64) if weights is None else copies(weights, seed, epoch)
    counts[chosen < 0] = 0  # the row lacks the group whose turn it is
    if not counts.any():
        raise UserError(
            f"epoch {epoch + 1} reads no example, such are the weights of the texts: raise them"
        )
    # A second copy of a row is planned apart from the first: no batch holds a row twice. The first
    # copy's key has no number, so that weights that are all 1 plan the same as none.
    batches = []
    for copy in range(counts.max()):
        random = generator(seed, "batches", epoch, *([copy] if copy else []))
        batches += _cut(lengths, counts > copy, max_tokens, max_examples, order, random)
    # Ranks must make as many steps: one with fewer batches would leave the others waiting.
    batches = _divisible(batches, world)
    # Rows of similar length are in one batch, but an update should not be of one length.
    generator(seed, "order of batches", epoch).shuffle(batches)
    batches = [chosen[rows] * len(chosen) + rows for rows in batches]
    # The number of batches divides by `world`: even the last, smaller update has as many for every
    # rank.
    per_update = world * accumulation
    updates = []
    for start in range(0, len(batches), per_update):
        update = batches[start : start + per_update]
        updates.append([update[rank::world] for rank in range(world)])
    return updates


def copies(weights: np.ndarray, seed: int, epoch: int) -> np.ndarray:
    """Return how often an `epoch` reads every row, (rows,) int, for weights (rows,).

    A weight is the mean of that over epochs. In n epochs a row of weight w is read ⌊n·w⌋ or ⌈n·w⌉
    times, and an epoch reads ⌊m·w⌋ or ⌈m·w⌉ copies of m rows of one weight: they come in turn, in
    an order that is drawn from the seed.
    """
    # Each row starts at its own offset in [0, 1), evenly spaced within a weight, and is read when
    # offset plus weights so far passes a whole number: then rows take turns, and no epoch has more
    # copies than another.
    offsets = np.zeros(len(weights))
    for weight in np.unique(weights):
        rows = np.flatnonzero(weights == weight)
        turns = generator(seed, "weights", float(weight)).permutation(len(rows))
        offsets[rows] = (turns + 0.5) / len(rows)
    before, after = (np.floor(epochs * weights + offsets) for epochs in (epoch, epoch + 1))
    counts: np.ndarray = (after - before).astype(np.int64)
    return counts


def padded(
    rows: Sequence[Sequence[int] | np.ndarray], pad: int, width: int | None = None
) -> np.ndarray:
    """Return rows of ids as one array (rows, width), padded on the right to the longest."""
    array = np.full((len(rows), width or max(map(len, rows))), pad, np.int64)
    for index, ids in enumerate(rows):
        array[index, : len(ids)] = ids
    return array


def _chosen_groups(rows: int, groups: Sequence[int], seed: int, epoch: int) -> np.ndarray:
    """Return the view group under which an epoch reads every row, (rows,) int; -1 where the row
    lacks it.

    In as many epochs as there are groups, a row is read under each of them once. Rows start with
    different groups, so that every epoch has equally many rows of each.
    """
    cycle, turn = divmod(epoch, len(groups))
    # Drawn once a cycle, so that no row reads a group twice before it has read all.
    random = generator(seed, "draws", cycle)
    first, order = random.permutation(rows) % len(groups), random.permutation(len(groups))
    chosen: np.ndarray = order[(first + turn) % len(groups)]
    return np.where(np.arange(rows) < np.asarray(groups)[chosen], chosen, -1)


def _cut(
    lengths: Lengths,
    present: np.ndarray,
    max_tokens: int,
    max_examples: int | None,
    order: Order,
    random: np.random.Generator,
) -> list[Batch]:
    """Sort rows by length or at random, and cut them into batches where a limit is reached."""
    cost = lengths.cost
    # Equally long rows are ordered at random, so that batches differ from epoch to epoch.
    keys = (random.random(len(cost)), lengths.targets, cost)
    sorted_rows = np.lexsort(keys if order == "length" else keys[:1])
    sorted_rows = sorted_rows[present[sorted_rows]]
    batches, start, longest = [], 0, 0
    for end, length in enumerate(cost[sorted_rows].tolist()):
        # Padding counts: a batch costs its rows times the longest.
        if max(longest, length) * (end - start + 1) > max_tokens or end - start == max_examples:
            batches.append(sorted_rows[start:end])
            start, longest = end, 0
        longest = max(longest, length)
    batches.append(sorted_rows[start:])
    return batches


def _divisible(batches: list[Batch], world: int) -> list[Batch]:
    """Split the largest batches until their number divides by that of the workers."""
    while len(batches) % world:
        batches.sort(key=len)
        largest = batches.pop()
        if len(largest) < 2:
            examples = sum(map(len, batches)) + 1
            raise UserError(
                f"{counted(examples, 'example')} cannot be shared among {world} workers: set "
                "training.workers=1"
            )
        # The largest can be split if any can, and its halves are the nearest to the others in size.
        middle = len(largest) // 2
        batches += [largest[:middle], largest[middle:]]
    return batches
