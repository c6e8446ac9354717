"""The similarity of encoder states: canonical correlations between layers, views and models.

Projection-weighted CCA (Morcos, Raghu and Bengio, 2018) and the mean of all, or of the leading,
canonical correlations (Raghu et al., 2017), which are invariant to invertible linear maps of either
space. States are one vector per sentence. With few sentences for many dimensions even noise
correlates: compare values with the random baseline, of which figure 5 of CipherDAug states the
truncated mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from augury.analysis.system import System
from augury.core.errors import UserError
from augury.core.naming import counted
from augury.core.rng import generator
from augury.decoding.settings import PLAIN

NEGLIGIBLE = 1e-10
"""Directions with a singular value below this share of the largest are dropped, or below that of
rounding errors."""
LEADING = 0.98
"""The truncated mean is over the leading correlations that hold this share of their sum
(`cca_core.py` of SVCCA)."""

Space: TypeAlias = "npt.NDArray[np.floating]"
"""(sentences, dimensions)."""
Basis = tuple[Space, Space]
"""An orthonormal basis of a centred space, (sentences, rank), and the space's coordinates in it,
(rank, dimensions)."""
Input = tuple[str, str]
"""System, and the view that it reads."""


@dataclass(frozen=True)
class Correlation:
    """Three summaries of the canonical correlations of two spaces; 1 where one is a linear map
    of the other."""

    pwcca: float
    mean: float
    truncated_mean: float


@dataclass(frozen=True)
class LayerCorrelations:
    """The correlations between every layer of one input and every layer of another.

    Layer 0 are the embeddings.
    """

    first: Input
    second: Input
    values: tuple[tuple[Correlation, ...], ...]
    """By layer of the first, then by layer of the second.

    Of spaces of one width, PWCCA is weighted by the first.
    """
    noise: Correlation
    """Between independent normal numbers of the same shapes."""

    @property
    def diagonal(self) -> list[Correlation]:
        """The correlations between equal layers, from the embeddings to the last one that both
        inputs have."""
        return [row[layer] for layer, row in enumerate(self.values) if layer < len(row)]


@dataclass(frozen=True)
class Correlations:
    """The correlations within and between systems, of every pair of layers."""

    sentences: int
    dimensions: tuple[int, ...]
    """The width of the states of every system."""
    layers: tuple[LayerCorrelations, ...]
    """Between the layers of a system, of the plain source."""
    views: tuple[LayerCorrelations, ...]
    """Between the plain source and another view of it, within a system."""
    models: tuple[LayerCorrelations, ...]
    """Between the plain source in the first system and every view in another one."""


def correlations(systems: Sequence[System]) -> Correlations:
    """Return the correlations of the encoder states of the test sentences.

    UserError where there are not two more sentences than dimensions, as all correlations would be
    1.
    """
    states: dict[Input, list[npt.NDArray[np.floating]]] = {}
    for system in systems:
        states |= {(system.name, view): system.states(view) for view in system.views}
    widths = {system.name: states[system.name, PLAIN][0].shape[1] for system in systems}
    sentences, widest = len(systems[0].sources), max(widths.values())
    if sentences <= widest + 1:  # centring takes one
        raise UserError(
            f"{counted(sentences, 'sentence is', 'sentences are')} too few for encoder states of "
            f"{widest} dimensions: give more with --sentences, or a larger --test"
        )
    bases = {read: list(map(_basis, layers)) for read, layers in states.items()}

    def between(first: Input, second: Input) -> LayerCorrelations:
        values = []
        for layer in bases[first]:
            values.append(tuple(_correlation(layer, other) for other in bases[second]))
        noise = random_baseline(sentences, *sorted((widths[first[0]], widths[second[0]])))
        return LayerCorrelations(first, second, tuple(values), noise)

    layers, views, models = [], [], []
    for system in systems:
        plain = (system.name, PLAIN)
        layers.append(between(plain, plain))
        views += [between(plain, (system.name, view)) for view in system.views[1:]]
        if system is not systems[0]:
            first = (systems[0].name, PLAIN)
            models += [between(first, (system.name, view)) for view in system.views]
    return Correlations(
        sentences, tuple(widths.values()), tuple(layers), tuple(views), tuple(models)
    )


def correlation(first: Space, second: Space) -> Correlation:
    """Return the canonical correlations of two spaces of the same sentences, by QR and SVD.

    PWCCA weights canonical directions by their share of the space with fewer dimensions, or of
    `first` if equal.
    """
    assert len(first) == len(second)
    return _correlation(_basis(first), _basis(second))


def _correlation(first: Basis, second: Basis) -> Correlation:
    if first[1].shape[1] > second[1].shape[1]:
        first, second = second, first
    (basis, coordinates), (other, _) = first, second
    if not basis.shape[1] or not other.shape[1]:
        return Correlation(0.0, 0.0, 0.0)  # all states of a space are equal
    directions, rho, _ = np.linalg.svd(basis.T @ other, full_matrices=False)
    rho = rho.clip(0, 1)
    weights = np.abs(directions.T @ coordinates).sum(1)
    return Correlation(
        float(weights @ rho / weights.sum()), float(rho.mean()), float(rho[: _leading(rho)].mean())
    )


@cache
def random_baseline(sentences: int, first: int, second: int, seed: int = 1) -> Correlation:
    """Return the correlation of independent standard normal numbers: that of spaces of this
    shape by chance."""
    random = generator("random baseline", sentences, first, second, seed)
    return correlation(
        random.standard_normal((sentences, first)), random.standard_normal((sentences, second))
    )


def _basis(space: Space) -> Basis:
    """Return the basis of a space once it is centred, without negligible directions."""
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
