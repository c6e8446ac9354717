"""A race in parallel with the reference: the reference and the winner train with every seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from augury.sweeping.race import Exhaustive, Race, RungDecision, Work


class RaceWithReference:
    """Races all other configurations while the reference trains with every seed, then completes the
    winner's seeds.

    A race spends no more seeds on the winner than it needs to separate it from the others.
    Comparing the winner with the reference takes all seeds of both.
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
        self.mode: Literal["max", "min"] = mode
        self.race = Race(others, seeds, rungs, mode=mode)
        self.configurations = (reference, *others)
        self._reference = reference
        self._exhaustive = {
            name: Exhaustive([name], seeds, rungs, mode=mode) for name in (reference, *others)
        }

    def work(self) -> list[Work]:
        """Return what can be trained now.

        The race comes first because other configurations wait for it.
        """
        work = [*self.race.work(), *self._exhaustive[self._reference].work()]
        if self.race.finished and self.race.best:
            work += self._exhaustive[self.race.best].work()
        return work

    def tell(self, configuration: str, seed: int, rung: int, value: float) -> None:
        """Record the value of a configuration with a seed at a rung."""
        self._exhaustive[configuration].tell(configuration, seed, rung, value)
        if configuration != self._reference:
            self.race.tell(configuration, seed, rung, value)

    def fail(self, configuration: str, seed: int) -> None:
        """Record that a configuration cannot be trained further with a seed."""
        self._exhaustive[configuration].fail(configuration, seed)
        if configuration != self._reference:
            self.race.fail(configuration, seed)

    @property
    def decisions(self) -> list[RungDecision]:
        """Return the decisions of the race."""
        return self.race.decisions

    @property
    def eliminated(self) -> frozenset[str]:
        """Return the configurations that the race has eliminated."""
        return self.race.eliminated

    @property
    def finished(self) -> bool:
        """Return whether nothing is left to train."""
        return self.race.finished and not self.work()
