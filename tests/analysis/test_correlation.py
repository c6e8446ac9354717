"""Canonical correlations: by hand, under linear maps, and of noise in the paper's shape."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from augury.analysis.correlation import correlation, correlations, random_baseline
from augury.core.errors import UserError


def test_weights_are_those_of_the_projection() -> None:
    signs = np.array([[(-1) ** (row >> bit) for bit in range(3)] for row in range(8)], float)
    a, b, c = signs.T
    value = correlation(np.column_stack([3 * a, b]), np.column_stack([a, c]))
    assert (value.pwcca, value.mean) == pytest.approx((0.75, 0.5))
    # Of two spaces of one size the first has the weights, else the smaller one.
    assert correlation(np.column_stack([a, c]), np.column_stack([3 * a, b])).pwcca == pytest.approx(
        0.5
    )
    assert correlation(
        np.column_stack([a, c, b - 2 * a]), np.column_stack([3 * a, b])
    ).pwcca == pytest.approx(1.0)


def test_invertible_linear_maps_change_nothing() -> None:
    random = np.random.default_rng(1)
    space = random.standard_normal((50, 4))
    value = correlation(space, space @ random.standard_normal((4, 4)) + 7)
    assert (value.pwcca, value.mean, value.truncated_mean) == pytest.approx((1, 1, 1))


def test_dead_directions_are_left_out() -> None:
    random = np.random.default_rng(1)
    space = random.standard_normal((50, 3))
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


def test_every_pair_of_layers_of_views_and_models_is_compared() -> None:
    random = np.random.default_rng(1)
    bottom, top, noise = random.standard_normal((3, 40, 4))
    first = system("first", {"plain": [bottom, top], "rot-1": [top + 3, noise]})
    second = system("second", {"plain": [2 * bottom, noise], "rot-1": [noise, -bottom, top]})
    result = correlations([first, second])

    def alike(pairs: Any) -> dict[Any, list[list[bool]]]:
        return {
            (pair.first, pair.second): [
                [round(value.pwcca, 6) == 1 for value in row] for row in pair.values
            ]
            for pair in pairs
        }

    same = [[True, False], [False, True]]
    assert alike(result.layers) == {
        ((name, "plain"), (name, "plain")): same for name in ("first", "second")
    }
    assert alike(result.views) == {
        (("first", "plain"), ("first", "rot-1")): [[False, False], [True, False]],
        (("second", "plain"), ("second", "rot-1")): [[False, True, False], [True, False, False]],
    }
    assert alike(result.models) == {
        (("first", "plain"), ("second", "plain")): [[True, False], [False, False]],
        (("first", "plain"), ("second", "rot-1")): [[False, True, False], [False, False, True]],
    }
    assert [value.pwcca for value in result.models[0].diagonal] == [
        result.models[0].values[i][i].pwcca for i in (0, 1)
    ]
    assert len(result.models[1].diagonal) == 2
    assert {pair.noise for pair in result.views} == {random_baseline(40, 4, 4)}


def test_every_cell_of_a_matrix_is_the_correlation_of_its_two_layers() -> None:
    """Computed by other means; states that leave a normalised layer have one dimension less than
    their width."""
    random = np.random.default_rng(2)
    shared = random.standard_normal((40, 3))
    layers = [
        shared @ random.standard_normal((3, 4)) + random.standard_normal((40, 4)) for _ in range(4)
    ]
    for index in (1, 3):
        layers[index] = layers[index] - layers[index].mean(1, keepdims=True)
    (pair,) = correlations([system("one", {"plain": layers[:2], "rot-1": layers[2:]})]).views
    expected = [[whitened_pwcca(first, second) for second in layers[2:]] for first in layers[:2]]
    assert [[value.pwcca for value in row] for row in pair.values] == [
        pytest.approx(row) for row in expected
    ]


def whitened_pwcca(first: np.ndarray, second: np.ndarray) -> float:
    """PWCCA from the eigenvectors of covariances.

    Weights are inner products of directions with neurons.
    """
    x, y = first - first.mean(0), second - second.mean(0)
    white, other = whiten(x), whiten(y)
    squares, vectors = np.linalg.eigh(white.T @ other @ other.T @ white)
    rank = min(white.shape[1], other.shape[1])
    weights = np.abs((white @ vectors[:, -rank:]).T @ x).sum(1)
    return float(weights @ np.sqrt(squares[-rank:].clip(0)) / weights.sum())


def whiten(space: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(space.T @ space)
    kept = values > 1e-9 * values.max()
    return np.asarray(space @ vectors[:, kept] / np.sqrt(values[kept]))


def test_noise_has_the_widths_of_the_states_compared() -> None:
    random = np.random.default_rng(1)
    wide, narrow = random.standard_normal((40, 8)), random.standard_normal((40, 3))
    result = correlations(
        [system("wide", {"plain": [wide]}), system("narrow", {"plain": [narrow]})]
    )
    assert [pair.noise for pair in result.models] == [random_baseline(40, 3, 8)]


def test_rounding_of_constant_states_does_not_correlate() -> None:
    random = np.random.default_rng(1)
    first, second = random.standard_normal((2, 6750, 8)).astype(np.float32)
    constant = [
        np.column_stack([space, np.full(6750, 0.1 * factor, np.float32)])
        for space, factor in ((first, 1), (second, 3))
    ]
    assert correlation(*constant).mean == pytest.approx(correlation(first, second).mean, abs=1e-6)


def test_too_few_sentences_are_refused() -> None:
    for dimensions in (39, 64):
        with pytest.raises(UserError, match=f"40 sentences .* {dimensions} dimensions"):
            correlations([system("one", {"plain": [np.zeros((40, dimensions))]})])
