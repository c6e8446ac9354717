"""Canonical correlations: by hand, under linear maps, and of noise in the paper's shape."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from augury.analysis.correlation import CorrelationAnalysis, correlation, random_baseline
from augury.core.errors import UserError


def test_weights_are_those_of_the_projection() -> None:
    signs = np.array([[(-1) ** (row >> bit) for bit in range(3)] for row in range(8)], float)
    a, b, c = signs.T
    first, second = np.column_stack([3 * a, b]), np.column_stack([a, c])
    value = correlation(first, second)
    assert (value.pwcca, value.mean) == pytest.approx((0.75, 0.5))
    # Of two spaces of one size the first has the weights, else the smaller one.
    assert correlation(second, first).pwcca == pytest.approx(0.5)
    assert correlation(np.column_stack([a, c, b - 2 * a]), first).pwcca == pytest.approx(1.0)
    wide = np.column_stack([a, c, a * c])
    for pair in ((first, wide), (wide, first)):
        assert correlation(*pair).pwcca == pytest.approx(0.75)


def test_linear_maps_and_dead_directions_change_nothing() -> None:
    random = np.random.default_rng(1)
    space = random.standard_normal((50, 4))
    value = correlation(space, space @ random.standard_normal((4, 4)) + 7)
    assert (value.pwcca, value.mean, value.truncated_mean) == pytest.approx((1, 1, 1))
    dead = np.column_stack([space, space[:, 0] + space[:, 1], np.full(50, 2.0)])
    assert correlation(dead, space).mean == pytest.approx(1)
    assert correlation(np.zeros((50, 2)), space).pwcca == 0


@pytest.mark.slow
def test_noise_in_the_shape_of_the_paper_has_its_random_baseline() -> None:
    value = random_baseline(6750, 512, 512)
    assert (value.mean, value.pwcca, value.truncated_mean) == pytest.approx(
        (0.2355, 0.2356, 0.2700), abs=1e-3
    )


def system(name: str, states: dict[str, list[np.ndarray]]) -> Any:
    return SimpleNamespace(
        name=name, views=tuple(states), sources=[""] * 40, states=states.__getitem__
    )


def test_every_pair_of_layers_of_views_and_models_is_compared_with_noise_of_its_widths() -> None:
    random = np.random.default_rng(1)
    bottom, top, noise = random.standard_normal((3, 40, 4))
    first = system("first", {"plain": [bottom, top], "rot-1": [top + 3, noise]})
    second = system("second", {"plain": [2 * bottom[:, :3]], "rot-1": [noise, -bottom, top]})
    result = CorrelationAnalysis().compute([first, second])
    inputs = result[["system", "view", "other_system", "other_view"]].drop_duplicates()
    assert [*inputs.itertuples(index=False, name=None)] == [
        *(("first", "plain", "second", view) for view in ("plain", "rot-1")),
        *((name, "plain", name, "rot-1") for name in ("first", "second")),
        *((name, "plain", name, "plain") for name in ("first", "second")),
    ]
    pairs = [rows for _, rows in result.groupby("pair", sort=False)]
    layers = itertools.product((bottom, top), (noise, -bottom, top))
    assert pairs[1]["pwcca"].tolist() == [correlation(*pair).pwcca for pair in layers]
    widths = [(3, 4), (3, 4), (4, 4), (3, 3), (4, 4), (3, 3)]
    for rows, pair in zip(pairs, widths, strict=True):
        assert {*rows["noise_pwcca"]} == {random_baseline(40, *pair).pwcca}
    with pytest.raises(UserError, match="40 sentences .* 39 dimensions"):
        CorrelationAnalysis().compute([system("one", {"plain": [np.zeros((40, 39))]})])
