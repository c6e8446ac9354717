"""The hidden Markov model against sums over every alignment there is."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from augury.text.alignment import hmm
from augury.text.alignment.bitext import BOTH, Bucket, Lexicon
from augury.text.alignment.hmm import Hmm, Table
from tests.text.alignment.test_bitext import encoded

NULL, UNIFORM = 0.2, 0.1


def enumerated(
    links: np.ndarray, nulls: np.ndarray, jumps: dict[int, float]
) -> tuple[np.ndarray, np.ndarray]:
    """(generating, generated) posteriors and the expected (from, to), the first row from before
    the sentence."""
    generating, generated = links.shape
    step = np.array(
        [[jumps[to - start] for to in range(generating)] for start in range(-1, generating)]
    )
    step = (1 - UNIFORM) * step / step.sum(axis=1, keepdims=True) + UNIFORM / generating
    total, posteriors, expected = 0.0, np.zeros_like(links), np.zeros_like(step)
    # As null keeps the position, every word epochs one on: (position, whether null) for each.
    for path in product(product(range(generating), (True, False)), repeat=generated):
        probability, before, taken = 1.0, -1, []
        for j, (position, by_null) in enumerate(path):
            if by_null and before >= 0:
                probability *= NULL * nulls[j] * (position == before)
            else:
                probability *= step[before + 1, position] * (
                    NULL * nulls[j] if by_null else (1 - NULL) * links[position, j]
                )
                if not by_null:
                    taken.append((before + 1, position))
            before = position
        total += probability
        for j, (position, by_null) in enumerate(path):
            posteriors[position, j] += 0 if by_null else probability
        for move in taken:
            expected[move] += probability
    return posteriors / total, expected / total


def test_posteriors_are_those_of_all_alignments() -> None:
    random = np.random.default_rng(1)
    lengths = np.array([4, 3, 3, 1])  # of sentences paired with one of three words
    (bucket,) = encoded([["a", "b", "c"]] * 4, [["x"] * length for length in lengths])[0].buckets(
        "forward"
    )
    assert isinstance(bucket, Bucket) and bucket.lengths.tolist() == lengths.tolist()
    links, nulls = random.random(3 * lengths.sum()), random.random(lengths.sum())
    weights = random.random(3)  # of jumps back, of none and onward; longer ones are as those
    by_distance = {distance: weights[np.clip(distance, -1, 1) + 1] for distance in range(-3, 4)}
    columns = [
        [
            (block[:, rank].copy(), words[rank])
            for block, words in zip(
                bucket.cells_by_position(links), bucket.words_by_position(nulls), strict=True
            )
            if rank < len(words)
        ]
        for rank in range(4)
    ]
    expected = [
        enumerated(
            np.stack([link for link, _ in column], axis=1),
            np.array([null for _, null in column]),
            by_distance,
        )
        for column in columns
    ]
    moves = hmm.posteriors(bucket, links, nulls, hmm.transitions(3, weights, UNIFORM), NULL)
    for rank, (posteriors, _) in enumerate(expected):
        blocks = bucket.cells_by_position(links)[: lengths[rank]]
        assert np.stack([block[:, rank] for block in blocks], axis=1) == pytest.approx(
            posteriors, rel=1e-9
        )
        of_null = [words[rank] for words in bucket.words_by_position(nulls)[: lengths[rank]]]
        assert of_null == pytest.approx(1 - posteriors.sum(axis=0), rel=1e-9)
    assert moves == pytest.approx(sum(moves for _, moves in expected), rel=1e-9)
    assert hmm.jump_counts(moves, 1).sum() == pytest.approx(moves.sum())


def test_a_link_counts_as_the_geometric_mean_of_both_directions() -> None:
    bitext, *words = encoded([["a", "b"]], [["x", "y"]])
    lexicon = Lexicon(*words, np.unique(bitext.cells))
    bitext = replace(bitext, cells=lexicon.places(bitext.cells))
    pairs = np.array([0.5, 0.1, 0.2, 0.4])
    tables = {way: Table(pairs, np.array([0.3, 0.1]), np.array([4.0])) for way in BOTH}
    counts = Hmm().expect(bitext, tables)
    alone = []
    for way in BOTH:
        (bucket,) = bitext.buckets(way)
        links, nulls = bitext.cells_of(pairs[bitext.cells], way), np.array([0.3, 0.1])
        hmm.diagonal_posteriors(bucket, links, nulls, 4.0, 0.2)
        alone.append(bitext.forward_cells(links, way))
        assert counts[way].null == pytest.approx(nulls)
    mean = np.zeros(4)
    mean[bitext.cells] = np.sqrt(alone[0] * alone[1])
    for way in BOTH:
        assert counts[way].pairs == pytest.approx(mean)
    assert not np.allclose(alone[0], alone[1]) and len(lexicon.pairs) == 4


@pytest.mark.parametrize("generating", [1, 2, 30])
def test_transitions_are_probabilities(generating: int) -> None:
    between = hmm.transitions(generating, np.arange(1.0, 22), 0.05)
    assert between.shape == (generating + 1, generating)
    assert between.sum(axis=1) == pytest.approx(np.ones(generating + 1)) and (between > 0).all()


@pytest.mark.parametrize("position", [0, 2])
def test_the_diagonal_prior_is_that_of_fast_align(position: int) -> None:
    """Proportional to exp(-tension |i/n - j/m|), by hand for n = 3 and m = 3 and 5."""
    prior = hmm.diagonal(3, np.array([3, 5]), position, 2.0)
    for column, length in enumerate((3, 5)):
        weights = [np.exp(-2.0 * abs(i / 3 - (position + 1) / length)) for i in (1, 2, 3)]
        assert prior[:, column] == pytest.approx(np.array(weights) / sum(weights))
