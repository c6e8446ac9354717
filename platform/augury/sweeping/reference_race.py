"""A race with a reference that takes no part in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from augury.sweeping.final_seeds import FinalSeeds
from augury.sweeping.race import Exhaustive, GroupScheduler, Race, Work


class ReferenceRace(FinalSeeds):
    """Races configurations, and trains the reference and the winner with every seed.

    The first seed of the reference comes before all others, so that a race that is ended early has
    something to compare with.
    """

    def __init__(
        self,
        reference: str,
        others: Sequence[str],
        seeds: Sequence[int],
        rungs: Sequence[int | None],
        *,
        mode: Literal["max", "min"],
    ):
        super().__init__(Race(others, seeds, rungs, mode=mode))
        self._reference = Exhaustive([reference], seeds, rungs, mode=mode)

    def work(self) -> list[Work]:
        """Return what can be trained now, most urgent first."""
        own = self._reference.work()
        first = [work for work in own if work.seed == self._reference.seeds[0]]
        of_winner = self._race.missing(self.best) if self.best else []
        return [*first, *self._race.work(), *own[len(first) :], *of_winner]

    def tell(self, configuration: str, seed: int, rung: int, value: float) -> None:
        """Record the value of a configuration with a seed at a rung."""
        self._of(configuration).tell(configuration, seed, rung, value)

    def fail(self, configuration: str, seed: int) -> None:
        """Record that a configuration cannot be trained further with a seed."""
        self._of(configuration).fail(configuration, seed)

    def _of(self, configuration: str) -> GroupScheduler:
        of_reference = configuration in self._reference.configurations
        return self._reference if of_reference else self._race
