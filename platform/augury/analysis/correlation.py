"""The similarity of encoder states: canonical correlations between layers, views and models.

Projection-weighted CCA (Morcos, Raghu and Bengio, 2018) and the mean of all, or of the leading,
canonical correlations (Raghu et al., 2017), which are invariant to invertible linear maps of either
space. States are one vector per sentence. With few sentences for many dimensions even noise
correlates: compare values with the random baseline, of which figure 5 of CipherDAug states the
truncated mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from augury.analysis.analysis import Analysis, result_table, test_label
from augury.analysis.system import System
from augury.core.errors import UserError
from augury.core.naming import counted
from augury.core.rng import generator
from augury.decoding.settings import PLAIN
from augury.reporting.numbers import number
from augury.reporting.report import PageSection, section
from augury.reporting.tables import Columns, cell, table

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
COLUMNS: Columns = {
    "PWCCA": ("pwcca", "exact"),
    "mean": ("mean", "exact"),
    "truncated mean": ("truncated_mean", "exact"),
    "PWCCA of noise": ("noise_pwcca", "exact"),
    "truncated mean of noise": ("noise_truncated_mean", "exact"),
}


class Correlation(NamedTuple):
    """Three summaries of the canonical correlations of two spaces; 1 where one is a linear map
    of the other."""

    pwcca: float
    mean: float
    truncated_mean: float


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
    pwcca = float(weights @ rho / weights.sum())
    sums = np.concatenate([[0.0], np.cumsum(rho)])
    leading = max(1, int(np.searchsorted(sums, LEADING * sums[-1])))
    return Correlation(pwcca, float(rho.mean()), float(rho[:leading].mean()))


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


class CorrelationAnalysis(Analysis):
    """Canonical correlations of encoder states, between layers, views and models."""

    TITLE = "Encoder states"

    analysis: str = "correlation"

    def compute(self, systems: Sequence[System]) -> pd.DataFrame:
        """Return the correlations of the encoder states of the test sentences.

        A row for every layer of one input and every layer of another, from 0, the embeddings; an
        input is the `view` that a `system` reads. PWCCA of spaces of one width is weighted by the
        first. Compared are the plain source of the first system with every view of another one, the
        plain source of a system with its other views, and with itself. Noise: the correlation of
        independent normal numbers of the same shapes.

        UserError where there are not two more sentences than dimensions, as all correlations would
        be 1.
        """
        bases: dict[tuple[str, str], list[Basis]] = {}
        for system in systems:
            for view in system.views:
                bases[system.name, view] = [_basis(layer) for layer in system.states(view)]
        widths = {system.name: bases[system.name, PLAIN][0][1].shape[1] for system in systems}
        sentences, widest = len(systems[0].sources), max(widths.values())
        if sentences <= widest + 1:  # centring takes one
            raise UserError(
                f"{counted(sentences, 'sentence is', 'sentences are')} too few for encoder states "
                f"of {widest} dimensions: give more with --sentences, or a larger --test"
            )
        first, *others = systems
        models = [(first.name, PLAIN, other.name, view) for other in others for view in other.views]
        views = [(name, PLAIN, name, view) for name, view in bases if view != PLAIN]
        rows = []
        for pair in [*models, *views, *((name, PLAIN, name, PLAIN) for name in widths)]:
            random = random_baseline(sentences, *sorted((widths[pair[0]], widths[pair[2]])))
            noise = {f"noise_{name}": value for name, value in random._asdict().items()}
            names = dict(zip(("system", "view", "other_system", "other_view"), pair, strict=True))
            names["pair"] = _name(*pair)
            for layer, basis in enumerate(bases[pair[:2]]):
                for other_layer, other in enumerate(bases[pair[2:]]):
                    row = {**names, "layer": layer, "other_layer": other_layer}
                    row |= _correlation(basis, other)._asdict()
                    rows.append(row | noise)
        return pd.DataFrame(rows)

    def answer(self, results: pd.DataFrame, systems: Sequence[System]) -> str:
        """Return PWCCA of the states of the last layer, the most alike first."""
        shown = results[results["layer"] == results["other_layer"]]
        shown, where = shown[_is_between(shown)], "PWCCA in the last common layer"
        if shown.empty:  # no other view or model
            shown = results[results["layer"] == 0]
            where = "PWCCA between embeddings and the last layer"
        last = shown.groupby("pair", sort=False)[["pwcca", "noise_pwcca"]].last()
        ordered = last["pwcca"].sort_values(ascending=False, kind="stable").items()
        values = ", ".join(f"{name} {number(pwcca, 'fine')}" for name, pwcca in ordered)
        noises = " or ".join(number(pwcca, "fine") for pwcca in last["noise_pwcca"].unique())
        return (
            f"On {test_label(systems)}, {where}: {values}; noise has {noises}, and states that are "
            "alike up to a linear map 1."
        )

    def sections(self, results: pd.DataFrame, systems: Sequence[System]) -> list[PageSection]:
        """Return the correlations of equal layers between views and models, and of all layers
        within a model."""
        between, shown = _is_between(results), []
        equal = results[between & (results["layer"] == results["other_layer"])]
        if not equal.empty:
            notes = (
                f"One vector a sentence: the mean over its pieces, "
                f"{number(len(systems[0].sources), 'count')} "
                "sentences. Noise: independent normal numbers of the same shapes; with fewer "
                "sentences it correlates more. The JSON has all pairs of layers.",
                f"Truncated mean: over the leading correlations with {LEADING:.0%} of the sum, "
                "which is what the paper's random baseline of 0.27 is of.",
            )
            title, names = "Equal layers", ("pair", "layer")
            layers = result_table(equal, COLUMNS, names, title=title, notes=notes)
            shown.append(section("Between views and models", layers))
        for name, within in results[~between].groupby("pair", sort=False):
            values = within.pivot(index="layer", columns="other_layer", values="pwcca")
            rows = [
                [f"layer {layer}", *(cell(value, "exact") for value in row)]
                for layer, row in enumerate(values.to_numpy().tolist())
            ]
            columns = [f"{name}", *(f"layer {layer}" for layer in values.columns)]
            noise = number(within["noise_pwcca"].iloc[0], "exact")
            note = f"PWCCA of the plain source; noise has {noise}."
            title = f"{name}, all layers"
            shown.append(section(title, table(columns, rows, title=title, notes=(note,))))
        return shown


def _name(system: str, view: str, other_system: str, other_view: str) -> str:
    """Return the name of a pair of inputs: two views of a system, or views of two systems."""
    if (system, view) == (other_system, other_view):
        return f"{system} {view}"
    other = other_view if system == other_system else f"{other_system} {other_view}"
    return f"{system} {view} and {other}"


def _is_between(results: pd.DataFrame) -> pd.Series:
    """Return whether the inputs of a row are different ones."""
    return (results["system"] != results["other_system"]) | (
        results["view"] != results["other_view"]
    )


ANALYSIS = CorrelationAnalysis
