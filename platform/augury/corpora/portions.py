"""Random numbers of the rows of a text, by which portions of it are chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augury.core.rng import keys_of, uniform

LARGE, FEW = 0.1, 20
"""A group is large from this share of the rows on, beside at least so many groups."""


def row_numbers(rows: Sequence[int], seed: int) -> np.ndarray:
    """Return a number in [0, 1) for every row, given its place in the text from 0."""
    return uniform(keys_of(list(map(str, rows)), "portion", seed), 0, 1)[:, 0]


def grouped_numbers(blocks: Iterable[pa.Table], sentences: Sequence[str], seed: int) -> np.ndarray:
    """Return a number in [0, 1) for every row of a labelled text: the same for rows that share a
    sentence, directly or by others, and spread evenly among those with the same label."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    table = pa.concat_tables(block.select([*sentences, "label"]) for block in blocks)
    count = len(table)
    sides = [pc.ascii_trim_whitespace(table.column(name)).combine_chunks() for name in sentences]
    texts = _codes(pa.concat_arrays(sides))
    edges = np.tile(np.arange(count), len(sides)), count + texts
    nodes = count + int(texts.max(initial=0)) + 1
    graph = coo_array((np.ones(len(texts), np.int8), edges), shape=(nodes, nodes))
    _, components = connected_components(graph, directed=False)
    _, firsts, groups, sizes = np.unique(
        components[:count], return_index=True, return_inverse=True, return_counts=True
    )
    labels = _most_frequent(groups, _codes(table.column("label").combine_chunks()))
    # A large group, which would fill a portion, is at 0 and leaves the numbers to the others.
    large = (sizes > LARGE * count) & (len(sizes) >= FEW)
    weights = np.where(large, 0, sizes)
    order = np.lexsort((row_numbers(firsts.tolist(), seed), labels))
    before = np.cumsum(weights[order]) - weights[order] / 2
    totals = np.bincount(labels, weights)
    starts = np.cumsum(totals) - totals
    own = labels[order]
    shares = (before - starts[own]) / np.maximum(totals[own], 1)
    shares += row_numbers(range(len(totals)), seed)[own]
    of_groups = np.empty(len(sizes))
    of_groups[order] = shares % 1
    of_groups[large] = 0
    return of_groups[groups]


def _codes(values: pa.Array) -> np.ndarray:
    return values.dictionary_encode().indices.to_numpy()


def _most_frequent(groups: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the most frequent label of every group, the first of several."""
    pairs, counts = np.unique(np.stack([groups, labels]), axis=1, return_counts=True)
    order = np.lexsort((-pairs[1], counts))  # the most frequent last, which is kept
    chosen = np.empty(int(groups.max(initial=-1)) + 1, int)
    chosen[pairs[0, order]] = pairs[1, order]
    return chosen
