"""The similarity of encoder states: canonical correlations between layers, views and models.

Projection-weighted CCA (Morcos, Raghu and Bengio, 2018) and the mean of all, or of the leading, canonical correlations
(Raghu et al., 2017), which are invariant to invertible linear maps of either space. States are one vector per sentence.
With few sentences for many dimensions even noise correlates: compare values with the random baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from augury.analysis.system import System
from augury.core.errors import UserError
from augury.core.rng import generator
from augury.experiments.views import PLAIN

NEGLIGIBLE = 1e-10
"""Directions with a singular value below this share of the largest are dropped, or below that of rounding errors."""
LEADING = 0.98
"""The truncated mean is over the leading correlations that hold this share of their sum (`cca_core.py` of SVCCA)."""

Space = NDArray[np.floating]
"""(sentences, dimensions)."""
State = tuple[str, str, int]
"""System, view, layer."""


@dataclass(frozen=True)
class Correlation:
    """Three summaries of the canonical correlations of two spaces; 1 where one is a linear map of the other."""

    pwcca: float
    mean: float
    truncated_mean: float


@dataclass(frozen=True)
class StateCorrelation:
    """The correlation between two encoder states; layer 0 are the embeddings, with positions."""

    first: State
    second: State
    value: Correlation
    noise: Correlation
    """Between independent normal numbers of the same shapes."""


@dataclass(frozen=True)
class Correlations:
    """The correlations within and between systems."""

    sentences: int
    dimensions: tuple[int, ...]
    """The width of the states of every system."""
    layers: tuple[StateCorrelation, ...]
    """Between the layers of a system, of the plain source."""
    views: tuple[StateCorrelation, ...]
    """Between the plain source and another view of it, layer by layer."""
    models: tuple[StateCorrelation, ...]
    """Between the first system and another one, layer by layer, of the plain source."""


def correlations(systems: Sequence[System]) -> Correlations:
    """Return the correlations of the encoder states of the test sentences.

    UserError where there are not two more sentences than dimensions, as all correlations would be 1.
    """
    states = {(system.name, view): system.states(view) for system in systems for view in system.views}
    widths = [states[system.name, PLAIN][0].shape[1] for system in systems]
    sentences = len(systems[0].sources)
    if sentences <= max(widths) + 1:  # centring takes one
        raise UserError(
            f"{sentences} sentences do not tell {max(widths)} dimensions of encoder states apart: give more with "
            "--sentences, or a larger --test"
        )

    def between(first: State, second: State) -> StateCorrelation:
        spaces = [states[state[:2]][state[2]] for state in (first, second)]
        noise = random_baseline(sentences, *sorted(space.shape[1] for space in spaces))
        return StateCorrelation(first, second, correlation(*spaces), noise)

    first, depth = systems[0].name, {system.name: len(states[system.name, PLAIN]) for system in systems}
    layers = [
        between((name, PLAIN, layer), (name, PLAIN, other))
        for name, count in depth.items()
        for layer, other in combinations(range(count), 2)
    ]
    views = [
        between((system.name, PLAIN, layer), (system.name, view, layer))
        for system in systems
        for view in system.views[1:]
        for layer in range(depth[system.name])
    ]
    models = [
        between((first, PLAIN, layer), (name, PLAIN, layer))
        for name, count in depth.items()
        if name != first
        for layer in range(min(depth[first], count))
    ]
    return Correlations(sentences, tuple(widths), tuple(layers), tuple(views), tuple(models))


def correlation(first: Space, second: Space) -> Correlation:
    """Return the canonical correlations of two spaces of the same sentences, by QR and SVD.

    PWCCA weights canonical directions by their share of the space with fewer dimensions, or of `first` if equal.
    """
    assert len(first) == len(second)
    if first.shape[1] > second.shape[1]:
        first, second = second, first
    (basis, coordinates), (other, _) = _basis(first), _basis(second)
    if not basis.shape[1] or not other.shape[1]:
        return Correlation(0.0, 0.0, 0.0)  # all states of a space are equal
    directions, rho, _ = np.linalg.svd(basis.T @ other, full_matrices=False)
    rho = rho.clip(0, 1)
    weights = np.abs(directions.T @ coordinates).sum(1)
    return Correlation(float(weights @ rho / weights.sum()), float(rho.mean()), float(rho[: _leading(rho)].mean()))


@cache
def random_baseline(sentences: int, first: int, second: int, seed: int = 1) -> Correlation:
    """Return the correlation of independent standard normal numbers: that of spaces of this shape by chance."""
    random = generator("random baseline", sentences, first, second, seed)
    return correlation(random.standard_normal((sentences, first)), random.standard_normal((sentences, second)))


def _basis(space: Space) -> tuple[Space, Space]:
    """Return an orthonormal basis of the centred space, (sentences, rank), and its coordinates, (rank, dimensions)."""
    exact = np.asarray(space, np.float64)
    centred = exact - exact.mean(0)
    basis, triangle = np.linalg.qr(centred)
    left, sizes, right = np.linalg.svd(triangle, full_matrices=False)
    rounding = len(space) ** 0.5 * np.finfo(space.dtype).eps
    kept = sizes > max(NEGLIGIBLE, rounding) * max(sizes.max(initial=0.0), np.finfo(float).tiny)
    return basis @ left[:, kept], sizes[kept, None] * right[kept]


def _leading(rho: Space) -> int:
    """Return the number of the largest correlations that make up the share `LEADING` of the sum."""
    sums = np.concatenate([[0.0], np.cumsum(rho)])
    return max(1, int(np.searchsorted(sums, LEADING * sums[-1])))
