from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.core.errors import UserError
from augury.training.batching import Lengths, plan_epoch


def lengths_of(sources: list[int], targets: list[int] | None = None) -> Lengths:
    return Lengths(np.array(sources), np.array(targets if targets is not None else sources))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=8, max_size=200),
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(0, 3),
    st.sampled_from(["length", "random"]),
)
def test_every_row_once_within_budget_and_equally_many_batches_on_every_rank(
    pairs: list[tuple[int, int]], world: int, accumulation: int, epoch: int, order: str
) -> None:
    lengths = lengths_of([source for source, _ in pairs], [target for _, target in pairs])
    plan = plan_epoch(
        lengths,
        max_tokens=200,
        order=order,  # type: ignore[arg-type]
        seed=1,
        epoch=epoch,
        world=world,
        accumulation=accumulation,
    )
    batches = [batch for update in plan for rank in update for batch in rank]
    assert sorted(row for batch in batches for row in batch.tolist()) == list(range(len(pairs)))
    assert all(len(batch) * int(lengths.cost[batch].max()) <= 200 for batch in batches)
    for update in plan:
        assert len(update) == world
        assert len({len(rank) for rank in update}) == 1
        assert 1 <= len(update[0]) <= accumulation


@settings(max_examples=30, deadline=None)
@given(st.integers(8, 120), st.integers(1, 5), st.integers(0, 2), st.integers(0, 20))
def test_every_row_is_read_once_with_each_view_group_and_with_one_in_an_epoch(
    rows: int, groups: int, cycle: int, missing: int
) -> None:
    """Rows that lack the last group are left out of the epoch in which it is its turn."""
    having = [rows] * groups if groups == 1 else [*[rows] * (groups - 1), max(0, rows - missing)]
    lengths = lengths_of(np.random.default_rng(rows).integers(1, 40, rows).tolist())
    read = []
    for epoch in range(cycle * groups, (cycle + 1) * groups):
        plan = plan_epoch(lengths, max_tokens=200, seed=1, epoch=epoch, groups=having)
        examples = np.concatenate([batch for update in plan for batch in update[0]])
        chosen, positions = np.divmod(examples, rows)
        assert len(set(positions.tolist())) == len(positions)
        counts = np.bincount(chosen, minlength=groups)
        if not missing:
            assert counts.max() - counts.min() <= 1
        read += list(zip(chosen.tolist(), positions.tolist(), strict=True))
    assert sorted(read) == [(group, row) for group in range(groups) for row in range(having[group])]


def test_the_views_of_rows_are_drawn_from_the_seed() -> None:
    one, again, other = (
        plan_epoch(lengths_of([5] * 50), max_tokens=500, seed=seed, epoch=0, groups=[50, 50])
        for seed in (1, 1, 2)
    )
    views = [{*np.concatenate(plan[0][0]).tolist()} for plan in (one, again, other)]
    assert views[0] == views[1] != views[2]


def rows_read(weights: list[float], epoch: int, world: int = 1) -> list[list[int]]:
    """The rows of every batch of an epoch, given their weights."""
    lengths = lengths_of([1 + row % 7 for row in range(len(weights))])
    plan = plan_epoch(
        lengths, max_tokens=30, seed=1, epoch=epoch, weights=np.array(weights), world=world
    )
    return [batch.tolist() for update in plan for rank in update for batch in rank]


@pytest.mark.parametrize("epoch", [0, 3])
def test_weights_decide_alike_for_any_number_of_workers_and_no_batch_has_a_row_twice(
    epoch: int,
) -> None:
    weights = [1.0] * 20 + [2.0] * 10 + [0.25] * 8
    alone, shared = rows_read(weights, epoch), rows_read(weights, epoch, world=3)
    read = sorted(itertools.chain.from_iterable(alone))
    assert read == sorted(itertools.chain.from_iterable(shared))
    assert [read.count(row) for row in range(30)] == [1] * 20 + [2] * 10
    assert sum(row >= 30 for row in read) == 2  # a quarter of 8
    assert all(len(set(batch)) == len(batch) for batch in alone)
    rare = [
        row for turn in range(4) for batch in rows_read(weights, turn) for row in batch if row >= 30
    ]
    assert sorted(rare) == list(range(30, 38))


def test_what_no_plan_can_hold_is_refused() -> None:
    with pytest.raises(UserError, match="50 tokens does not fit training.max_tokens=40"):
        plan_epoch(lengths_of([10, 50]), max_tokens=40, seed=1, epoch=0)
    with pytest.raises(UserError, match="3 examples cannot be shared among 4 workers"):
        plan_epoch(lengths_of([5, 5, 5]), max_tokens=40, seed=1, epoch=0, world=4)
