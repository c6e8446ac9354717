"""Seeds where they improve the choice: every configuration once, then further seeds one by one.

Scores of one seed are noisy, and of many configurations the best score is mostly one that was
lucky. Configurations are therefore compared by what their scores say about their means together:
those that share a row (a combination and its parts, a row with other settings) are alike, and the
mean of a configuration with one seed is drawn to that of its relatives. Another seed goes to the
configuration whose next score is expected to improve the choice most, the knowledge gradient
(Frazier, Powell and Dayanik, 2009, "The Knowledge-Gradient Policy for Correlated Normal Beliefs");
once no seed promises enough, the choice is made.

Nothing is stopped halfway through training: augmentation and regularisation learn slowly, so that
half a training says little about its end. `benchmarks/race.py` measures how often the choice is
right, and what it costs.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(15)

Array = NDArray[np.float64]


class Belief(NamedTuple):
    """The distribution of the means of configurations, given their scores."""

    names: Sequence[str]
    mean: Array
    covariance: Array
    variance: float
    """Between seeds."""

    def gains(self) -> Array:
        """Return by how much another seed of each configuration is expected to improve the best
        mean."""
        spread = self.covariance / np.sqrt(np.diag(self.covariance) + self.variance)
        shifted = self.mean[None, :, None] + NODES[:, None, None] * spread[None]
        best = np.average(shifted.max(axis=1), axis=0, weights=WEIGHTS)
        return np.asarray(best - self.mean.max(), dtype=np.float64)


def belief(groups: Mapping[str, Sequence[float]], rows: Mapping[str, Collection[str]]) -> Belief:
    """Return what scores say about the means of configurations.

    A mean is the sum of a level, what all configurations with a row have in common, an effect of
    each of its `rows`, and one of its own, all normal. The variance between seeds is pooled over
    configurations, and the scale of the effects is the likeliest. `groups` has at least one score
    each, and one of them two.
    """
    names = list(groups)
    deviation, _ = pooled_deviation(groups.values())
    scores = np.array([score for name in names for score in groups[name]])
    spread = float(np.ptp(scores))
    variance = max(deviation, 1e-6 * spread, 1e-12) ** 2
    shared = np.array([[len({*rows[name]} & {*rows[other]}) for other in names] for name in names])
    augmented = np.array([bool(rows[name]) for name in names], dtype=float)
    alike = shared + OWN**2 * np.diag(augmented) + COMMON**2 * np.outer(augmented, augmented)
    place = np.repeat(np.arange(len(names)), [len(groups[name]) for name in names])
    level = spread**2 + variance  # as good as unknown
    centred = scores - scores.mean()
    best: tuple[float, Array, Array] | None = None
    for scale in SCALES:
        prior = level + scale**2 * variance * alike
        observed = prior[np.ix_(place, place)] + variance * np.eye(len(scores))
        factor = np.linalg.cholesky(observed)
        cross = np.linalg.solve(factor, prior[place])
        whitened = np.linalg.solve(factor, centred)
        likelihood = -0.5 * float(whitened @ whitened) - float(np.log(np.diag(factor)).sum())
        if best is None or likelihood > best[0]:
            best = likelihood, scores.mean() + cross.T @ whitened, prior - cross.T @ cross
    assert best is not None
    return Belief(names, best[1], best[2], variance)


class KnowledgeGradient(GroupScheduler):
    """Trains every configuration to the end with its first seed, then adds seeds where they are
    expected to improve the choice.

    Configurations can be added once the choice is made, which
    is then made anew among all. One with a seed that failed is never chosen. With a single seed,
    the best score is chosen. Decisions depend on the values only, as those of `Race`.
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
        means = dict(zip(known.names, known.mean, strict=True))
        able = [name for name in known.names if name != self.reference]
        ranked = sorted(able, key=lambda name: (self._has_failed(name), -means[name]))
        return {name: self._sign * float(means[name]) for name in ranked}

    def _has_failed(self, name: str) -> bool:
        return self._has_failure(name, self.seeds[: self._requested[name]], self.last)

    def _scores(self) -> dict[str, list[float]]:
        """Return the scores of the requested seeds, best mean first."""
        requested = {name: self.seeds[:count] for name, count in self._requested.items()}
        return self._groups(requested, self.last)

    def _belief(self) -> Belief:
        scores = self._scores()
        if pooled_deviation(scores.values())[1]:
            return belief(scores, self._rows)
        means = np.array([statistics.fmean(group) for group in scores.values()])
        return Belief(list(scores), means, np.zeros((len(means), len(means))), 0.0)

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
        known = self._belief()
        gains = dict(zip(known.names, known.gains(), strict=True)) if known.variance else {}
        least = GAIN * known.variance**0.5
        promising = [name for name in gains if gains[name] >= least and self._can_grow(name)]
        promising.sort(key=lambda name: -gains[name])
        best = self._best_of(known)
        for name in promising[:AT_ONCE]:
            self._decide_on("seed added", name, known, best)
        if promising:
            self._grow(promising[:AT_ONCE])
        else:
            self._decide_on("chosen", best, known, best)
            self.best, self.finished = best, True

    def _best_of(self, known: Belief) -> str:
        able = [name for name in known.names if not self._has_failed(name)]
        return max(able, key=lambda name: known.mean[known.names.index(name)])

    def _decide_on(
        self, action: Literal["seed added", "chosen"], name: str, known: Belief, best: str
    ) -> None:
        """Record a decision, with the 95 % interval of the mean and the best mean as the cut."""
        at = known.names.index(name)
        half = 1.96 * float(known.covariance[at, at]) ** 0.5
        cut = float(known.mean[known.names.index(best)])
        score = float(known.mean[at])
        self._decide(action, name, self.last, len(self._scores()[name]), score, half, cut)
