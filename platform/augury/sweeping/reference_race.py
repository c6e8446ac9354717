"""A race with a reference that takes no part in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from augury.sweeping.race import Exhaustive, Race, RungDecision, Work


class ReferenceRace:
    """Races configurations, and trains the reference and the winner with every seed.

    The first seed of the reference comes before all others, so that a race that is ended early has
    something to compare with. The winner trains its missing seeds at the end: the race spends no
    more on it than it needs to separate it from the others.
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
        self._reference = Exhaustive([reference], seeds, rungs, mode=mode)
        self._race = Race(others, seeds, rungs, mode=mode)

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

    @property
    def best(self) -> str | None:
        """The winner of the race; None before it is decided."""
        return self._race.best

    @property
    def decisions(self) -> list[RungDecision]:
        """Return the decisions of the race."""
        return self._race.decisions

    @property
    def eliminated(self) -> frozenset[str]:
        """Return the configurations that were stopped or have failed."""
        return self._race.eliminated

    @property
    def finished(self) -> bool:
        """Return whether nothing is left to train."""
        return self._race.finished and not self.work()

    def _of(self, configuration: str) -> Race | Exhaustive:
        of_reference = configuration in self._reference.configurations
        return self._reference if of_reference else self._race
