"""Draws from token ids: how many tokens change, which, and what the draw depends on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from augury.augment.draw import CountedDraw, Symbols, _truncated_geometric
from augury.augment.operator import parse
from augury.core.rng import keys_of

UNKNOWN, PAD, END, TAG, FIRST = 1, 0, 2, 3, 4
SYMBOLS = Symbols(UNKNOWN, np.arange(FIRST, 60))
SENTENCES = 40_000
OPERATORS = ["word_drop", "switch_out", "raml"]
DEVIATION = 4.5 / np.sqrt(SENTENCES)
"""Four and a half standard deviations of a share, at most, as every share has at most 1 / 4 of
variance."""


def draw(name: str = "word_drop", **settings: Any) -> CountedDraw:
    operator = parse({"operator": name, **settings})
    assert isinstance(operator, CountedDraw)
    return operator


def draw_ids(
    operator: CountedDraw, ids: np.ndarray, keys: np.ndarray, epoch: int = 0
) -> np.ndarray:
    return operator.draw(ids, ids >= FIRST, keys, epoch, SYMBOLS)


def sentences(length: int, number: int = SENTENCES) -> tuple[np.ndarray, np.ndarray]:
    """A tag, `length` tokens, the end and a pad in every row; and the rows' keys."""
    row = [TAG, *range(FIRST, FIRST + length), END, PAD]
    keys = keys_of([f"train-{record:08d}" for record in range(number)], "draw")
    return np.tile(row, (number, 1)), keys


@pytest.mark.parametrize(
    ("rate", "shares"),
    [
        (0.9, [0.610101, 0.248048, 0.100849, 0.041002]),
        (1 / 0.9, [0.678778, 0.223449, 0.073558, 0.024215]),
    ],
)
def test_n_tokens_change_with_a_probability_that_falls_with_n(
    rate: float, shares: list[float]
) -> None:
    """Golden: L = 3 of methods.md A9; P(n) ~ exp(-λ n), 0 ≤ n ≤ L."""
    numbers = (np.arange(1_000_000) + 0.5) / 1_000_000
    counts = _truncated_geometric(numbers, rate, np.full(1_000_000, 3)).astype(int)
    np.testing.assert_allclose(np.bincount(counts) / 1_000_000, shares, atol=3e-6)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize(("tau", "mean"), [(0.9, 0.684564), (0.95, 0.630321), (0.85, 0.745516)])
def test_a_token_changes_with_probability_n_of_length(name: str, tau: float, mean: float) -> None:
    """Golden: the mean of n for L = 10; every place is as likely; tags, ends and pads stay."""
    ids, keys = sentences(10)
    changed = draw_ids(draw(name, tau=tau), ids, keys) != ids
    counts = changed.sum(1)
    assert counts.mean() == pytest.approx(mean, abs=4.5 * counts.std() / np.sqrt(SENTENCES))
    assert np.ptp(changed.mean(0)[1:11]) < 2 * DEVIATION and not changed[:, [0, 11, 12]].any()


@pytest.mark.parametrize("name", OPERATORS)
def test_what_a_row_becomes_does_not_depend_on_the_batch(name: str) -> None:
    """Neither on its other rows, nor on their order, nor on its width."""
    operator, lengths, epoch = draw(name, tau=0.1), [3, 0, 12, 7, 7, 1], 2**40
    rows = list(range(len(lengths)))
    ids = np.full((len(lengths), 15), PAD)
    for row, length in enumerate(lengths):
        ids[row, :length] = range(FIRST, FIRST + length)
    keys = keys_of([str(row) for row in rows])
    rows.reverse()
    together = draw_ids(operator, ids[rows], keys[rows], epoch)
    for place, row in enumerate(rows):
        single = draw_ids(operator, ids[row : row + 1, : lengths[row]], keys[row : row + 1], epoch)
        assert together[place, : lengths[row]].tolist() == single[0].tolist()


GOLDEN = {
    "word_drop": [
        [[4, 5, 6, 7, 1, 9, 10], [4, 5, 6, 7, 8, 9, 10], [4, 5, 6, 7, 8, 9, 10]],
        [[4, 1, 6, 1, 8, 1, 10], [1, 1, 1, 7, 8, 1, 10], [4, 1, 1, 1, 8, 9, 10]],
    ],
    "switch_out": [
        [[4, 5, 6, 7, 40, 9, 10], [4, 5, 6, 7, 8, 9, 10], [4, 5, 6, 7, 8, 9, 10]],
        [[4, 49, 6, 26, 8, 57, 10], [25, 59, 32, 7, 8, 22, 10], [4, 42, 24, 11, 8, 9, 10]],
    ],
}
"""What one process drew once, in two epochs, of tokens that are 4, 5, ..."""


@pytest.mark.parametrize("name", GOLDEN)
def test_the_same_record_and_epoch_give_the_same_in_every_process_and_another_epoch_another(
    name: str,
) -> None:
    ids, keys = sentences(7, 3)
    operator = draw(name, tau=0.1)
    drawn = [draw_ids(operator, ids, keys, epoch)[:, 1:8].tolist() for epoch in (0, 1)]
    assert drawn == GOLDEN[name]
