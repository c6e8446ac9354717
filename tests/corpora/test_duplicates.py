"""Repeated rows are those that a set of the rows finds, in a few bytes a row."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from augury.corpora.filters import Duplicates

ROW = st.tuples(st.text("ab ", max_size=3), st.text("ab ", max_size=3))


@given(st.lists(st.lists(ROW, max_size=30), max_size=12))
def test_duplicates_are_those_of_a_set_of_rows_whatever_the_blocks(
    blocks: list[list[tuple[str, str]]],
) -> None:
    seen: set[tuple[str, str]] = set()
    duplicates = Duplicates()
    for rows in blocks:
        expected = []
        for row in rows:
            expected.append(row in seen)
            seen.add(row)
        sides = [pa.array([row[side] for row in rows], pa.string()) for side in (0, 1)]
        assert duplicates.repeated(*sides).tolist() == expected


def test_a_million_rows_take_a_few_bytes_each() -> None:
    random, duplicates = np.random.default_rng(1), Duplicates()
    tracemalloc.start()
    for _ in range(50):
        hashes = random.integers(0, 1 << 63, 20_000).view(np.uint64)
        assert not duplicates.repeated_hashes(hashes).any()
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 9 * 1_000_000
    assert peak < 20 * 1_000_000
