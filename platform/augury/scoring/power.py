"""The smallest difference that a test can detect, for numbers of seeds and sentences.

The variance of a difference has three components (`augury.scoring.significance`): training noise,
the interaction of seeds and sentences, and that of systems and sentences. More seeds reduce the
first two, more sentences the last two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from scipy import special

from augury.scoring.bootstrap import Resampled
from augury.scoring.seed_variance import PRIOR, floored, pool, sample_variance

LEVEL, POWER = 0.05, 0.8
RANGE = 0.8
"""How often a range of seeds has the true number of seeds that are needed."""
MOST_SEEDS = 20
"""More are not proposed: two systems that need more are equal for most purposes."""


@dataclass(frozen=True)
class Components:
    """Components of the variance of a difference of two systems, in squared units of the score."""

    seeds: float
    """Of the score of one seed: training noise alone."""
    seeds_and_sentences: float
    """Of one seed on one sentence: their interaction."""
    systems_and_sentences: float
    """Of a difference on one sentence: the interaction of systems and sentences, over both
    systems."""
    dof: float = field(default=math.inf, compare=False)
    """Degrees of freedom of the variance between seeds, where it is estimated."""

    def variance(self, seeds: int, sentences: int) -> float:
        """Return the variance of the difference of two means over seeds and sentences."""
        return self._between_seeds(seeds, sentences) + self.systems_and_sentences / sentences

    def smallest_difference(self, seeds: int, sentences: int, comparisons: int = 1) -> float:
        """Return the difference that is detected with a power of 80 % at a two-sided level of 5 %.

        The level is divided by the number of comparisons (Bonferroni). It is the noncentrality of
        Student's t that exceeds the critical value in 80 % of cases, in standard errors. One seed
        says nothing of others: infinite where seeds vary at all.
        """
        between = self._between_seeds(seeds, sentences)
        if not between:
            dof = math.inf
        elif seeds == 1:
            return math.inf
        else:
            together = (comparisons + 1) * (seeds - 1)
            dof = min(2 * (PRIOR + seeds - 1), together)  # of a baseline and systems, seeds alike
            dof *= self.variance(seeds, sentences) / between
        critical = special.stdtrit(dof, 1 - LEVEL / comparisons / 2)
        return float(special.nctdtrinc(dof, 1 - POWER, critical)) * math.sqrt(
            self.variance(seeds, sentences)
        )

    def seeds_needed(self, difference: float, sentences: int, comparisons: int = 1) -> int | None:
        """Return the smallest number of seeds that detects a difference; None above MOST_SEEDS."""
        return next(
            (
                seeds
                for seeds in range(2, MOST_SEEDS + 1)
                if self.smallest_difference(seeds, sentences, comparisons) <= difference
            ),
            None,
        )

    def range_needed(
        self, difference: float, sentences: int, comparisons: int = 1
    ) -> tuple[int | None, int | None]:
        """Return the fewest and the most seeds that detecting a difference may take, as the
        variance between seeds is known from few; None above MOST_SEEDS."""
        interaction = self.seeds_and_sentences / sentences
        ends = []
        for share in ((1 + RANGE) / 2, (1 - RANGE) / 2):
            factor = self.dof / special.chdtri(self.dof, 1 - share) if self.dof < math.inf else 1.0
            seeds = max(0.0, float(factor) * (self.seeds + interaction) - interaction)
            known = replace(self, seeds=seeds)
            ends.append(known.seeds_needed(difference, sentences, comparisons))
        return ends[0], ends[1]

    def _between_seeds(self, seeds: int, sentences: int) -> float:
        return 2 * (self.seeds + self.seeds_and_sentences / sentences) / seeds


def components(systems: Sequence[Resampled], sentences: int) -> Components | None:
    """Estimate the components from systems compared with the first; None without two seeds of
    any."""
    pooled = pool([sample_variance(system) for system in systems])
    if not pooled.dof or len(systems) < 2:
        return None
    baseline, *others = systems
    interactions = []
    for system in others:
        between_seeds = pooled.interaction * (1 / baseline.seeds + 1 / system.seeds)
        over_sentences = float((system.samples.mean(1) - baseline.samples.mean(1)).var())
        interactions.append(max(0.0, over_sentences - between_seeds))
    return Components(
        seeds=floored(pooled).total - pooled.interaction,
        seeds_and_sentences=pooled.interaction * sentences,
        systems_and_sentences=sentences * sum(interactions) / len(interactions),
        dof=pooled.dof,
    )
