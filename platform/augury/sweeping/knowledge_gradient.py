"""Seeds where they improve the choice: every configuration once, then further seeds one by one.

Scores of one seed are noisy, and of many configurations the best score is mostly one that was
lucky. Configurations are therefore compared by what their scores say about their means together:
those that share a row (a combination and its parts, a row with other settings) are alike, and the
mean of a configuration with one seed is drawn to that of its relatives. A seed may be good or bad
for all configurations, as it draws the same initial weights and the same order of the text: those
with few seeds are judged with what others say about these. Another seed goes to the configuration
whose next score is expected to improve the choice most, the knowledge gradient (Frazier, Powell and
Dayanik, 2009, "The Knowledge-Gradient Policy for Correlated Normal Beliefs"); once no seed promises
enough, the choice is made (`augury.sweeping.race.Race`). `benchmarks/race.py` measures how
often it is right, and what it costs.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

OWN, COMMON = 0.5, 1.0
"""Deviations of what a configuration has to itself, and of what all but the reference have in
common, as multiples of that of a row."""
SCALES = [0.35 * 2 ** (step / 2) for step in range(12)]
"""Deviations of a row that are tried, as multiples of that between seeds; the likeliest counts."""
SHARES = [0.0, 0.25, 0.5, 0.75, 0.9]
"""Shares of the variance between seeds that may be the same for all configurations."""
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(15)

Array: TypeAlias = "npt.NDArray[np.float64]"
Scores = Mapping[str, Mapping[int, float]]
"""Configuration -> seed -> score."""


def pooled_deviation(groups: Iterable[Sequence[float]]) -> tuple[float, int]:
    """Return the standard deviation pooled over groups and its degrees of freedom; (0, 0) if it
    cannot be estimated."""
    squares, degrees = 0.0, 0
    for group in groups:
        mean = statistics.fmean(group)
        squares += math.fsum((value - mean) ** 2 for value in group)
        degrees += len(group) - 1
    return (math.sqrt(squares / degrees), degrees) if degrees else (0.0, 0)


class Belief(NamedTuple):
    """The joint distribution of the means of configurations and the effects of seeds, given
    scores."""

    names: Sequence[str]
    seeds: Sequence[int]
    mean: Array
    """Of the configurations, then of the seeds."""
    covariance: Array
    noise: float
    """The variance of a score around the sum of both."""

    def mean_of(self, name: str) -> float:
        """Return the expected mean of a configuration."""
        return float(self.mean[self.names.index(name)])

    def deviation_of(self, name: str) -> float:
        """Return the standard deviation of the mean of a configuration."""
        place = self.names.index(name)
        return float(self.covariance[place, place]) ** 0.5

    def gain(self, name: str, seed: int) -> float:
        """Return by how much the score of a configuration with a seed is expected to improve the
        best mean."""
        count = len(self.names)
        score = np.zeros(len(self.mean))
        score[self.names.index(name)] = score[count + self.seeds.index(seed)] = 1.0
        covariance = self.covariance @ score
        spread = covariance[:count] / np.sqrt(score @ covariance + self.noise)
        best = (self.mean[:count] + NODES[:, None] * spread).max(axis=1)
        return float(np.average(best, weights=WEIGHTS) - self.mean[:count].max())


def belief(scores: Scores, rows: Mapping[str, Collection[str]], seeds: Sequence[int]) -> Belief:
    """Return what scores say about the means of configurations.

    A score is the sum of the configuration's mean, an effect of the seed, and noise. A mean is the
    sum of a level, what all configurations with a row have in common, an effect of each of its
    `rows`, and one of its own. All are normal. The variance between seeds is pooled over
    configurations; the scale of the effects and the share of the seed are the likeliest. `scores`
    has at least one of each configuration, and two of one.
    """
    names, count = list(scores), len(scores)
    values = np.array([score for of in scores.values() for score in of.values()])
    deviation, _ = pooled_deviation([list(of.values()) for of in scores.values()])
    spread = float(np.ptp(values))
    variance = max(deviation, 1e-6 * spread, 1e-12) ** 2
    shared = np.array([[len({*rows[name]} & {*rows[other]}) for other in names] for name in names])
    augmented = np.array([bool(rows[name]) for name in names], dtype=float)
    alike = shared + OWN**2 * np.diag(augmented) + COMMON**2 * np.outer(augmented, augmented)
    trained = [(name, seed) for name, of in scores.items() for seed in of]
    of_name = np.eye(count)[[names.index(name) for name, _ in trained]]  # (scores, names)
    of_seed = np.eye(len(seeds))[[seeds.index(seed) for _, seed in trained]]
    centred = values - values.mean()
    level = spread**2 + variance  # as good as unknown
    # The covariance of scores for every scale and share, and its likelihood.
    scales, shares = np.array(list(product(SCALES, SHARES))).T[:, :, None, None]
    by_row, by_seed = of_name @ alike @ of_name.T, of_seed @ of_seed.T
    noises = (1 - shares) * np.eye(len(values))
    factors = np.linalg.cholesky(
        level + variance * (scales**2 * by_row + shares * by_seed + noises)
    )
    residuals = np.linalg.solve(factors, centred[:, None])[..., 0]
    diagonals = np.diagonal(factors, axis1=1, axis2=2)
    likeliest = np.argmax(-0.5 * (residuals**2).sum(1) - np.log(diagonals).sum(1))
    scale, share = scales[likeliest].item(), shares[likeliest].item()
    prior = np.zeros((count + len(seeds), count + len(seeds)))
    prior[:count, :count] = level + scale**2 * variance * alike
    prior[count:, count:] = share * variance * np.eye(len(seeds))
    explained = np.linalg.solve(factors[likeliest], np.hstack([of_name, of_seed]) @ prior)
    mean = explained.T @ residuals[likeliest]
    mean[:count] += values.mean()
    covariance = prior - explained.T @ explained
    return Belief(names, list(seeds), mean, covariance, (1 - share) * variance)
