"""Draws from token ids: how many tokens change, which, and what the draw depends on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augury.augment.draw import CountedDraw, Symbols
from augury.augment.operator import parse
from augury.augment.switch_out import other_pieces
from augury.core.errors import UserError
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
    return np.tile(row, (number, 1)), keys_of(
        [f"train-{record:08d}" for record in range(number)], "draw"
    )


def count_changed(operator: CountedDraw, length: int) -> np.ndarray:
    """How many tokens of each of many sentences of a length are changed."""
    ids, keys = sentences(length)
    return (draw_ids(operator, ids, keys) != ids).sum(1)


def expected(rate: float, length: int) -> np.ndarray:
    shares = np.exp(-rate * np.arange(length + 1))
    return np.asarray(shares / shares.sum())


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize(
    ("settings", "length", "shares"),
    [
        ({"tau": 0.9}, 3, [0.610101, 0.248048, 0.100849, 0.041002]),
        ({"tau": 0.9, "tau_convention": "paper"}, 3, [0.678778, 0.223449, 0.073558, 0.024215]),
        ({"tau": 0.9}, 7, expected(0.9, 7)),
        ({"tau": 0.9, "tau_convention": "paper"}, 7, expected(1 / 0.9, 7)),
        ({"tau": 0.1}, 7, expected(0.1, 7)),
    ],
)
def test_n_tokens_change_with_a_probability_that_falls_with_n(
    name: str, settings: dict[str, Any], length: int, shares: list[float]
) -> None:
    """Golden: L = 3 of methods.md A9; P(n) ~ exp(-λ n), λ = tau (code) or 1 / tau (paper), 0 ≤ n
    ≤ L."""
    counts = count_changed(draw(name, selection="exact", **settings), length)
    assert counts.max() <= length
    measured = np.bincount(counts, minlength=length + 1) / SENTENCES
    np.testing.assert_allclose(measured, shares, atol=DEVIATION / 2)


@pytest.mark.parametrize(
    ("tau", "convention", "mean"),
    [
        (0.9, "code", 0.684564),
        (0.95, "code", 0.630321),
        (0.85, "code", 0.745516),
        (0.9, "paper", 0.490686),
    ],
)
def test_on_average_both_selections_change_as_many(
    tau: float, convention: str, mean: float
) -> None:
    """Golden: the mean of n for L = 10; in bernoulli a token changes with probability n / L."""
    for selection in ("exact", "bernoulli"):
        counts = count_changed(draw(tau=tau, tau_convention=convention, selection=selection), 10)
        assert counts.mean() == pytest.approx(mean, abs=4.5 * counts.std() / np.sqrt(SENTENCES))


def test_every_place_is_as_likely_and_bernoulli_is_not_exact() -> None:
    ids, keys = sentences(7)
    for selection in ("exact", "bernoulli"):
        shares = (draw_ids(draw(tau=0.2, selection=selection), ids, keys) != ids).mean(0)[1:8]
        assert np.ptp(shares) < 2 * DEVIATION
    twice = [
        count_changed(draw(tau=0.2, selection=selection), 7) for selection in ("exact", "bernoulli")
    ]
    assert (twice[0] != twice[1]).mean() > 0.3  # the same n, of which a binomial number changes


@pytest.mark.parametrize("name", OPERATORS)
def test_tags_ends_and_pads_stay(name: str) -> None:
    for selection in ("exact", "bernoulli"):
        ids, keys = sentences(3, 2_000)
        changed = draw_ids(draw(name, tau=0.01, selection=selection), ids, keys) != ids
        assert changed[:, 1:4].any(0).all() and not changed[:, [0, 4, 5]].any()


def test_every_other_piece_is_as_likely_a_replacement() -> None:
    """And none that is special, nor the piece itself.

    Of a number of pieces that are not the first ids of all.
    """
    ordinary = np.array([4, 7, 8, 11, 30])
    ids, keys = sentences(0)
    for original in (4, 11, 30):
        taken = other_pieces(np.full((SENTENCES, 2), original), keys, 0, ordinary)
        for place in (0, 1):
            counts = np.bincount(taken[:, place], minlength=31)
            assert counts[original] == 0 and counts[ordinary].sum() == SENTENCES
            np.testing.assert_allclose(
                counts[ordinary[ordinary != original]] / SENTENCES, 1 / 4, atol=DEVIATION
            )
        assert abs(np.corrcoef(taken.T)[0, 1]) < DEVIATION


def test_a_token_that_occurs_nowhere_becomes_any_piece() -> None:
    pieces = np.array([4, 7, 8, 11])
    _, keys = sentences(0)
    for original in (5, 40):
        counts = np.bincount(
            other_pieces(np.full((SENTENCES, 1), original), keys, 0, pieces)[:, 0], minlength=41
        )
        np.testing.assert_allclose(counts[pieces] / SENTENCES, 1 / 4, atol=DEVIATION)


@pytest.mark.parametrize("name", ["switch_out", "raml"])
def test_replacements_are_of_the_joint_vocabulary_or_of_the_side(name: str) -> None:
    """In the joint vocabulary 55 of 56 pieces are others; in that of the side, 4 of 5 in 56."""
    ids, keys = sentences(3)
    occurring = np.array([4, 5, 6, 20, 30])
    symbols = SYMBOLS._replace(occurring=lambda: occurring)
    for vocabulary, allowed in (("joint", SYMBOLS.ordinary), ("side", occurring)):
        operator = draw(name, tau=0.1, vocabulary=vocabulary)
        new = operator.draw(ids, ids >= FIRST, keys, 0, symbols)
        assert set(new[new != ids].tolist()) == set(allowed.tolist())
        first = new[:, 1][new[:, 1] != FIRST]
        counts = np.bincount(first, minlength=60)[allowed[allowed != FIRST]]
        others = len(allowed) - 1
        assert (
            (counts - len(first) / others) ** 2 / (len(first) / others)
        ).sum() < others + 5 * np.sqrt(2 * others)


def test_what_a_token_becomes_says_nothing_of_how_many_change() -> None:
    ids, keys = sentences(7)
    new = draw_ids(draw("switch_out", tau=0.2, selection="exact"), ids, keys)
    counts = (new != ids).sum(1)
    means = [
        new[counts == count, 1:8][(new != ids)[counts == count, 1:8]].mean()
        for count in range(1, 8)
    ]
    assert np.ptp(means) < 1.5  # of numbers between 4 and 60, in thousands of tokens each


@given(
    name=st.sampled_from(OPERATORS),
    lengths=st.lists(st.integers(0, 12), min_size=1, max_size=8),
    more=st.integers(0, 5),
    selection=st.sampled_from(["exact", "bernoulli"]),
    epoch=st.integers(0, 2**40),
    order=st.randoms(use_true_random=False),
)
def test_what_a_row_becomes_does_not_depend_on_the_batch(
    name: str, lengths: list[int], more: int, selection: str, epoch: int, order: Any
) -> None:
    """Neither on its other rows, nor on their order, nor on its width."""
    operator, rows = draw(name, tau=0.1, selection=selection), list(range(len(lengths)))
    ids = np.full((len(lengths), max(lengths) + more), PAD)
    for row, length in enumerate(lengths):
        ids[row, :length] = range(FIRST, FIRST + length)
    keys = keys_of([str(row) for row in rows])
    order.shuffle(rows)
    together = draw_ids(operator, ids[rows], keys[rows], epoch)
    for place, row in enumerate(rows):
        single = draw_ids(operator, ids[row : row + 1, : lengths[row]], keys[row : row + 1], epoch)
        assert together[place, : lengths[row]].tolist() == single[0].tolist()


@pytest.mark.parametrize(
    ("name", "epochs"),
    [
        (
            "word_drop",
            [
                [[4, 5, 6, 7, 1, 9, 10], [4, 5, 6, 7, 8, 9, 10], [4, 5, 6, 7, 8, 9, 10]],
                [[4, 1, 6, 1, 8, 1, 10], [1, 1, 1, 7, 8, 1, 10], [4, 1, 1, 1, 8, 9, 10]],
            ],
        ),
        (
            "switch_out",
            [
                [[4, 5, 6, 7, 40, 9, 10], [4, 5, 6, 7, 8, 9, 10], [4, 5, 6, 7, 8, 9, 10]],
                [[4, 49, 6, 26, 8, 57, 10], [25, 59, 32, 7, 8, 22, 10], [4, 42, 24, 11, 8, 9, 10]],
            ],
        ),
    ],
)
def test_the_same_record_and_epoch_give_the_same_in_every_process_and_another_epoch_another(
    name: str, epochs: list[list[list[int]]]
) -> None:
    """Golden: what one process drew once, of tokens that are 4, 5, ..."""
    ids, keys = sentences(7, 3)
    assert [
        draw_ids(draw(name, tau=0.1), ids, keys, epoch)[:, 1:8].tolist() for epoch in (0, 1)
    ] == epochs


def test_a_view_is_of_the_source() -> None:
    with pytest.raises(
        UserError, match="use view makes a view of the source, not of side=both: set side=source"
    ):
        parse({"operator": "word_drop", "use": "view", "side": "both"})
