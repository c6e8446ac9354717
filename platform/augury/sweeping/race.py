"""The race: every configuration once, then further seeds where they improve the choice."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np

from augury.sweeping.knowledge_gradient import Belief, belief
from augury.sweeping.schedulers import AT_ONCE, Mode, Scheduler, Trial

PILOTS = 4
"""How many get a second seed first, the reference and the best: they show the variance between
seeds."""
LEAST = 0.005
"""The least improvement of the choice that a seed is trained for, in points of the metric."""


class Race(Scheduler):
    """Trains every configuration with its first seed, then adds seeds where they are expected to
    improve the choice by at least `LEAST` points (`augury.sweeping.knowledge_gradient`).

    One with a seed that failed is never chosen. With a single seed, the best score is chosen.
    """

    def __init__(
        self,
        configurations: Iterable[str],
        seeds: Iterable[int],
        mode: Mode = "max",
        fresh: Iterable[int] = (),
    ):
        super().__init__(configurations, seeds, mode, fresh)
        self._made_of = {name: frozenset({name}) for name in self.configurations}
        self._made_of[self.reference] = frozenset()
        self._counts = dict.fromkeys(self.configurations, 1)
        """How many of the seeds are requested, by configuration."""
        self._piloted = False

    def add(self, parents: Mapping[str, Collection[str]]) -> None:
        """Add configurations, by name with those that they are made of; the choice is made anew."""
        for name, made_of in parents.items():
            if name not in self._made_of:
                self._made_of[name] = frozenset().union(*(self._made_of[part] for part in made_of))
                self._counts[name] = 1
        super().add(parents)

    def standings(self) -> dict[str, float]:
        """Return the expected mean of every configuration but the reference, the best first."""
        known = self._belief()
        means = {name: known.mean_of(name) for name in known.names if name != self.reference}
        ranked = sorted(means, key=lambda name: (self._has_failed(name), -means[name]))
        return {name: self._sign * means[name] for name in ranked}

    def _choose(self) -> None:
        known, scores = self._belief(), self._scores()
        able = [name for name in known.names if not self._has_failed(name)]
        if able:
            self.best, *others = sorted(able, key=known.mean_of, reverse=True)
            mean, cut = map(known.mean_of, (self.best, others[0] if others else self.best))
            half, seeds = 1.96 * known.deviation_of(self.best), len(scores[self.best])
            decision = self._decision("chosen", self.best, seeds, mean, half, cut)
            self._decisions.append(decision)

    def _requested(self) -> list[Trial]:
        return [
            Trial(name, seed)
            for place, seed in enumerate(self.seeds)
            for name in self.configurations
            if place < self._counts[name]
        ]

    def _belief(self) -> Belief:
        scores = self._scores()
        if any(len(of) > 1 for of in scores.values()):
            return belief(scores, self._made_of, self.seeds)
        means = np.array([score for of in scores.values() for score in of.values()])
        return Belief(list(scores), [], means, np.zeros((len(means), len(means))), 0.0)

    def _request_more(self) -> bool:
        promising = self._promising() if self._piloted else self._pilots()
        self._piloted = True
        for name in promising:
            self._counts[name] += 1
        return bool(promising)

    def _can_grow(self, name: str) -> bool:
        return self._counts[name] < len(self.seeds) and not self._has_failed(name)

    def _pilots(self) -> list[str]:
        able = list(filter(self._can_grow, self._scores()))
        return sorted(able, key=lambda name: name != self.reference)[:PILOTS]

    def _promising(self) -> list[str]:
        """Return the configurations whose next score is expected to improve the choice most, and
        enough; record that they get another seed."""
        scores, known = self._scores(), self._belief()
        if not known.seeds:  # nothing has two seeds
            return []
        able = list(filter(self._can_grow, known.names))
        gains = {name: known.gain(name, self.seeds[self._counts[name]]) for name in able}
        promising = [name for name in able if gains[name] >= LEAST]
        promising = sorted(promising, key=lambda name: -gains[name])[:AT_ONCE]
        cut = max(map(known.mean_of, able), default=0.0)
        for name in promising:
            mean, half = known.mean_of(name), 1.96 * known.deviation_of(name)
            decision = self._decision("seed added", name, len(scores[name]), mean, half, cut)
            self._decisions.append(decision)
        return promising
