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

from augury.analysis.analysis import Analysis, test_label
from augury.analysis.system import System
from augury.core.errors import UserError
from augury.core.naming import counted
from augury.core.rng import generator
from augury.decoding.settings import PLAIN
from augury.reporting.report import Section, section
from augury.reporting.tables import Table, cell, table

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
    pairs: tuple[LayerCorrelations, ...]
    """Of the plain source of the first system with every view of another one; of the plain source
    of a system with its other views; and with itself."""


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
def random_baseline(sentences: int, first: int, second: int) -> Correlation:
    """Return the correlation of independent standard normal numbers: that of spaces of this
    shape by chance."""
    random = generator("random baseline", sentences, first, second, 1)
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


class CorrelationAnalysis(Analysis):
    """Canonical correlations of encoder states, between layers, views and models."""

    TITLE = "Encoder states"

    analysis: str = "correlation"

    def compute(self, systems: Sequence[System]) -> Correlations:
        """Return the correlations of the encoder states of the test sentences.

        UserError where there are not two more sentences than dimensions, as all correlations would
        be 1.
        """
        states: dict[Input, list[npt.NDArray[np.floating]]] = {}
        for system in systems:
            states |= {(system.name, view): system.states(view) for view in system.views}
        widths = {system.name: states[system.name, PLAIN][0].shape[1] for system in systems}
        sentences, widest = len(systems[0].sources), max(widths.values())
        if sentences <= widest + 1:  # centring takes one
            raise UserError(
                f"{counted(sentences, 'sentence is', 'sentences are')} too few for encoder states "
                f"of {widest} dimensions: give more with --sentences, or a larger --test"
            )
        bases = {read: list(map(_basis, layers)) for read, layers in states.items()}

        def between(first: Input, second: Input) -> LayerCorrelations:
            values = []
            for layer in bases[first]:
                values.append(tuple(_correlation(layer, other) for other in bases[second]))
            noise = random_baseline(sentences, *sorted((widths[first[0]], widths[second[0]])))
            return LayerCorrelations(first, second, tuple(values), noise)

        models, views, layers = [], [], []
        for system in systems:
            plain = (system.name, PLAIN)
            layers.append(between(plain, plain))
            views += [between(plain, (system.name, view)) for view in system.views[1:]]
            if system is not systems[0]:
                first = (systems[0].name, PLAIN)
                models += [between(first, (system.name, view)) for view in system.views]
        pairs = (*models, *views, *layers)
        return Correlations(sentences, tuple(widths.values()), pairs)

    def answer(self, results: Correlations, systems: Sequence[System]) -> str:
        """Return PWCCA of the states of the last layer, the most alike first."""
        pairs = [pair for pair in results.pairs if pair.first != pair.second]
        found = {_ends(pair): pair.diagonal[-1].pwcca for pair in pairs}
        where = "PWCCA in the last common layer"
        if not pairs:  # no other view or model
            pairs = [results.pairs[0]]
            found = {_ends(pairs[0]): pairs[0].values[0][-1].pwcca}
            where = "PWCCA between embeddings and the last layer"
        ordered = sorted(found.items(), key=lambda entry: -entry[1])
        values = ", ".join(f"{name} {pwcca:.2f}" for name, pwcca in ordered)
        noises = " or ".join(f"{pwcca:.2f}" for pwcca in {pair.noise.pwcca: 0 for pair in pairs})
        return (
            f"On {test_label(systems)}, {where}: {values}; noise has {noises}, and states that are "
            "alike up to a linear map 1."
        )

    def sections(self, results: Correlations, systems: Sequence[System]) -> list[Section]:
        """Return the correlations of equal layers between views and models, and of all layers
        within a model."""
        shown = []
        if any(pair.first != pair.second for pair in results.pairs):
            shown.append(section("Between views and models", _equal_layers(results)))
        for pair in results.pairs:
            if pair.first != pair.second:
                continue
            rows = [
                [f"layer {layer}", *(cell(value.pwcca, ".3f") for value in values)]
                for layer, values in enumerate(pair.values)
            ]
            name = " ".join(pair.first)
            columns = [name, *(f"layer {layer}" for layer in range(len(pair.values)))]
            note = f"PWCCA of the plain source; noise has {pair.noise.pwcca:.3f}."
            title = f"{name}, all layers"
            shown.append(section(title, table(columns, rows, title=title, notes=(note,))))
        return shown


def _equal_layers(results: Correlations) -> Table:
    """Return the correlations between equal layers."""
    rows = []
    for pair in results.pairs:
        if pair.first == pair.second:
            continue
        noise = (pair.noise.pwcca, pair.noise.truncated_mean)
        for layer, value in enumerate(pair.diagonal):
            numbers = (value.pwcca, value.mean, value.truncated_mean, *noise)
            name = f"{_ends(pair)}, layer {layer}"
            rows.append([name, *(cell(number, ".3f") for number in numbers)])
    columns = ["states", "PWCCA", "mean", "truncated mean", "PWCCA of noise"]
    columns += ["truncated mean of noise"]
    widths = " and ".join(str(width) for width in dict.fromkeys(results.dimensions))
    notes = (
        f"One vector a sentence: the mean over its pieces, {widths} dimensions, "
        f"{results.sentences:,} sentences. Noise: independent normal numbers of the same shapes; "
        "with fewer sentences it correlates more. The JSON has all pairs of layers.",
        f"Truncated mean: over the leading correlations with {LEADING:.0%} of the sum, which is "
        "what the paper's random baseline of 0.27 is of.",
    )
    return table(columns, rows, title="Equal layers", notes=notes)


def _ends(pair: LayerCorrelations) -> str:
    """Return the names of the inputs compared: two views of a system, or views of two systems."""
    (first, view), (second, other) = pair.first, pair.second
    return f"{first} {view} and {other if first == second else f'{second} {other}'}"


ANALYSIS = CorrelationAnalysis
