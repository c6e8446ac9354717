"""Simultaneous bands of differences on several test sets, such as one text in 15 languages.

A 95 % interval for each of 15 languages misses some language in up to half of all experiments. The
bands here hold for all sets together: each interval is Student's at the level at which the smallest
of all p-values is below it in 5 % of experiments without a difference. As the same sentences, in
the order of their rows, are resampled in all languages, their correlations are known, and the bands
are narrower than Bonferroni's (max-t; Westfall and Young, 1993).

The variance on a set is V + max(0, W - I), as in `significance`, and at least W, the variance over
sentences alone. Correlations are those of W - I. Seed noise is taken to be uncorrelated between
sets, since a few seeds cannot show its correlations: that makes bands wider. In simulations of 15
sets (`benchmarks/bands.py`), bands cover all differences in 93 to 99 % of experiments with one to
ten seeds, and pointwise intervals in 51 to 73 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import special

from augury.scoring.bootstrap import SEED, Resampled

LEVEL = 0.95
DRAWS = 20_000
ROUNDING = 1e-9  # rounding error of scores up to 100
Matrix: TypeAlias = "npt.NDArray[np.float64]"


@dataclass(frozen=True)
class Band:
    """The difference between a system and a baseline on one of several test sets."""

    value: float
    low: float
    high: float
    """Bounds that hold for all sets together with 95 % probability."""
    p_value: float
    """Two-sided, corrected for the number of sets."""

    @property
    def excludes_zero(self) -> bool:
        """Whether the difference is significant on this set, given that all sets are looked at."""
        return self.low > 0 or self.high < 0


def simultaneous_bands(
    baseline: Sequence[Resampled],
    system: Sequence[Resampled],
    *,
    level: float = LEVEL,
    draws: int = DRAWS,
) -> list[Band]:
    """Return a band for each test set; both arguments have the scores of a system by set.

    The sets must have the same rows in the same order and be resampled by the same seed.
    """
    assert len(baseline) == len(system) > 0, "a system is compared on the same sets as the baseline"
    differences = [other.value - base.value for base, other in zip(baseline, system, strict=True)]
    samples = np.stack(
        [
            other.samples.mean(1) - base.samples.mean(1)
            for base, other in zip(baseline, system, strict=True)
        ],
        axis=1,
    )
    sentences = np.atleast_2d(np.cov(samples, rowvar=False))
    seed_variance, interaction, dof = _seed_terms(baseline, system)
    shared = np.maximum(0.0, (sentences - interaction).diagonal())
    estimated = seed_variance + shared
    variance = np.maximum(estimated, sentences.diagonal())
    dof = np.divide(
        dof * estimated, seed_variance, out=np.full_like(variance, np.inf), where=seed_variance > 0
    )
    scale = np.sqrt(np.maximum(variance, ROUNDING**2))
    covariance = _correlation(sentences - interaction) * np.sqrt(
        np.outer(shared, shared)
    ) + np.diag(variance - shared)
    smallest = _smallest_p_values(covariance / np.outer(scale, scale), draws)
    half = scale * special.stdtrit(dof, 1 - np.quantile(smallest, 1 - level) / 2)
    p_values = 2 * special.stdtr(dof, -np.abs(differences) / scale)
    return [
        Band(
            float(value),
            float(value - width),
            float(value + width),
            float(np.mean(smallest <= p_value)),
        )
        for value, width, p_value in zip(differences, half, p_values, strict=True)
    ]


def _seed_terms(
    baseline: Sequence[Resampled], system: Sequence[Resampled]
) -> tuple[Matrix, Matrix, Matrix]:
    """Return V (sets,), I (sets, sets) and the degrees of freedom of V (sets,), as in Welch's test.

    If one of the systems has a single seed, its variance is taken to be that of the other, as in
    `significance`.
    """
    sides = [side for side in (baseline, system) if side[0].seeds > 1]
    count = len(baseline)
    variance, interaction, welch = np.zeros(count), np.zeros((count, count)), np.zeros(count)
    for side in sides:
        seeds = side[0].seeds
        weight = 1 / seeds + (len(sides) == 1)
        scores = np.stack([resampled.scores for resampled in side], axis=1)
        of_side = weight * scores.var(axis=0, ddof=1)
        variance += of_side
        welch += of_side**2 / (seeds - 1)
        deviations = np.stack([resampled.samples - resampled.scores for resampled in side], axis=2)
        deviations -= deviations.mean(axis=1, keepdims=True)
        interaction += (
            weight
            * np.einsum("bsk,bsl->kl", deviations, deviations)
            / (len(deviations) * (seeds - 1))
        )
    return (
        variance,
        interaction,
        np.divide(variance**2, welch, out=np.full(count, np.inf), where=welch > 0),
    )


def _correlation(matrix: Matrix) -> Matrix:
    """Return correlations of an estimated covariance, without negative variances."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    positive = (vectors * np.maximum(values, 0)) @ vectors.T
    scale = np.sqrt(np.maximum(positive.diagonal(), ROUNDING**2))
    return np.asarray(positive / np.outer(scale, scale))


def _smallest_p_values(correlation: Matrix, draws: int) -> Matrix:
    """Return the smallest two-sided p-value over all sets without differences, (draws,)."""
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0))
    normal = np.random.default_rng(SEED).standard_normal((draws, len(correlation))) @ root.T
    return np.asarray(2 * special.ndtr(-np.abs(normal).max(axis=1)))
