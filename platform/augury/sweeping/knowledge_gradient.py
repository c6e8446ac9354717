"""Seeds where they improve the choice: every configuration once, then further seeds one by one.

Scores of one seed are noisy, and of many configurations the best score is mostly one that was
lucky. Configurations are therefore compared by what their scores say about their means together:
those that share a row (a combination and its parts, a row with other settings) are alike, and the
mean of a configuration with one seed is drawn to that of its relatives. A seed may be good or bad
for all configurations, as it draws the same initial weights and the same order of the text: those
with few seeds are judged with what others say about these. Another seed goes to the configuration
whose next score is expected to improve the choice most, the knowledge gradient (Frazier, Powell and
Dayanik, 2009, "The Knowledge-Gradient Policy for Correlated Normal Beliefs"); once no seed promises
enough, the choice is made.

Nothing is stopped halfway through training: augmentation and regularisation learn slowly, so that
half a training says little about its end. `benchmarks/race.py` measures how often the choice is
right, and what it costs.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Mapping, Sequence
from itertools import product
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from augury.sweeping.race import GroupScheduler, Work, pooled_deviation

PILOTS = 4
"""How many get a second seed first, the reference and the best: they show the variance between
seeds."""
AT_ONCE = 4
"""How many configurations get another seed before the next decision, at most: trials run side by
side, and a decision does not depend on how many."""
GAIN = 0.015
"""The least improvement that a seed is trained for, as a share of the deviation between seeds."""
OWN, COMMON = 0.5, 1.0
"""Deviations of what a configuration has to itself, and of what all but the reference have in
common, as multiples of that of a row."""
SCALES = [0.35 * 2 ** (step / 2) for step in range(12)]
"""Deviations of a row that are tried, as multiples of that between seeds; the likeliest counts."""
SHARES = [0.0, 0.25, 0.5, 0.75, 0.9]
"""Shares of the variance between seeds that may be the same for all configurations."""
TINY = 1e-12
"""No gain is expected of scores that are all equal."""
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(15)

Array: TypeAlias = "npt.NDArray[np.float64]"
Scores = Mapping[str, Mapping[int, float]]
"""Configuration -> seed -> score."""


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
    design = np.array(
        [
            [*(other == name for other in names), *(other == seed for other in seeds)]
            for name, of in scores.items()
            for seed in of
        ],
        dtype=float,
    )
    centred = values - values.mean()
    level = spread**2 + variance  # as good as unknown
    prior = np.zeros((count + len(seeds), count + len(seeds)))
    likeliest, known = -np.inf, None
    for scale, share in product(SCALES, SHARES):
        prior[:count, :count] = level + scale**2 * variance * alike
        prior[count:, count:] = share * variance * np.eye(len(seeds))
        noise = (1 - share) * variance
        cross = design @ prior
        factor = np.linalg.cholesky(cross @ design.T + noise * np.eye(len(values)))
        whitened = np.linalg.solve(factor, np.column_stack([centred, cross]))
        residual, cross = whitened[:, 0], whitened[:, 1:]
        likelihood = -0.5 * float(residual @ residual) - float(np.log(np.diag(factor)).sum())
        if likelihood > likeliest:
            mean = cross.T @ residual
            mean[:count] += values.mean()
            known = Belief(names, list(seeds), mean, prior - cross.T @ cross, noise)
            likeliest = likelihood
    assert known is not None
    return known


class KnowledgeGradient(GroupScheduler):
    """Trains every configuration to the end with its first seed, then adds seeds where they are
    expected to improve the choice.

    Configurations can be added once the choice is made, which is then made anew among all. One with
    a seed that failed is never chosen. With a single seed, the best score is chosen. Decisions
    depend on the values only, as those of `Race`.
    """

    def __init__(
        self,
        reference: str,
        others: Sequence[str],
        seeds: Sequence[int],
        *,
        mode: Literal["max", "min"],
    ):
        super().__init__([reference, *others], seeds, [None], mode=mode)
        self.reference = reference
        self._rows: dict[str, frozenset[str]] = {name: frozenset({name}) for name in others}
        self._rows[reference] = frozenset()
        self._requested = {name: 1 for name in self.configurations}
        """How many of the seeds are requested, by configuration."""
        self._piloted = False

    def add(self, parents: Mapping[str, Collection[str]]) -> None:
        """Add configurations, by name with those that they are made of."""
        for name, made_of in parents.items():
            if name not in self._rows:
                self.configurations += (name,)
                self._rows[name] = frozenset().union(*(self._rows[parent] for parent in made_of))
                self._requested[name] = 1
        self.finished = False
        self._advance()

    @property
    def eliminated(self) -> frozenset[str]:
        """Return the configurations with a seed that failed."""
        return frozenset(name for name in self.configurations if self._has_failed(name))

    def work(self) -> list[Work]:
        """Return what can be trained now, the first seeds of all before further ones."""
        works = [
            Work(name, self.seeds[place], self.last)
            for place in range(len(self.seeds))
            for name in self.configurations
            if place < self._requested[name]
        ]
        return [work for work in works if self._pending(work)]

    def standings(self) -> dict[str, float]:
        """Return the expected mean of every configuration but the reference, the best first."""
        known = self._belief()
        means = {name: known.mean_of(name) for name in known.names if name != self.reference}
        ranked = sorted(means, key=lambda name: (self._has_failed(name), -means[name]))
        return {name: self._sign * means[name] for name in ranked}

    def _has_failed(self, name: str) -> bool:
        return self._has_failure(name, self.seeds[: self._requested[name]], self.last)

    def _scores(self) -> dict[str, dict[int, float]]:
        """Return the scores of the requested seeds of configurations that have any, best mean
        first."""
        scores = {
            name: {
                seed: self._values[work]
                for seed in self.seeds[: self._requested[name]]
                if (work := Work(name, seed, self.last)) in self._values
            }
            for name in self.configurations
        }
        filled = [name for name, of in scores.items() if of]
        filled.sort(key=lambda name: -statistics.fmean(scores[name].values()))
        return {name: scores[name] for name in filled}

    def _belief(self) -> Belief:
        scores = self._scores()
        if any(len(of) > 1 for of in scores.values()):
            return belief(scores, self._rows, self.seeds)
        means = np.array([score for of in scores.values() for score in of.values()])
        return Belief(list(scores), [], means, np.zeros((len(means), len(means))), 0.0)

    def _advance(self) -> None:
        while not self.finished and not self.work():
            if len(self.seeds) > 1 and not self._piloted:
                self._piloted = True
                able = [name for name in self._scores() if self._can_grow(name)]
                able.sort(key=lambda name: name != self.reference)
                self._grow(able[:PILOTS])
            elif any(not self._has_failed(name) for name in self._scores()):
                self._decide_next()
            else:
                self.finished = True

    def _can_grow(self, name: str) -> bool:
        return self._requested[name] < len(self.seeds) and not self._has_failed(name)

    def _grow(self, names: Sequence[str]) -> None:
        for name in names:
            self._requested[name] += 1

    def _decide_next(self) -> None:
        """Add seeds where one promises enough; choose otherwise."""
        scores, known = self._scores(), self._belief()
        deviation, degrees = pooled_deviation([list(of.values()) for of in scores.values()])
        able = [name for name in known.names if self._can_grow(name)] if degrees else []
        gains = {name: known.gain(name, self.seeds[self._requested[name]]) for name in able}
        promising = [name for name in able if gains[name] >= max(GAIN * deviation, TINY)]
        promising = sorted(promising, key=lambda name: -gains[name])[:AT_ONCE]
        best = max((name for name in known.names if not self._has_failed(name)), key=known.mean_of)
        for name in promising or [best]:
            half = 1.96 * known.deviation_of(name)
            action: Literal["seed added", "chosen"] = "seed added" if promising else "chosen"
            mean, cut = known.mean_of(name), known.mean_of(best)
            self._decide(action, name, self.last, len(scores[name]), mean, half, cut)
        self._grow(promising)
        if not promising:
            self.best, self.finished = best, True
