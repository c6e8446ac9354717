"""A race around which the reference and the winner train with every seed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

from augury.sweeping.race import GroupScheduler, RungDecision, Work


class FinalSeeds(ABC):
    """Base class of schedulers around a race, which spends no more seeds on a configuration than it
    needs to choose: the missing ones of what is compared in the end come after it."""

    def __init__(self, race: GroupScheduler):
        self.mode: Literal["max", "min"] = race.mode
        self._race = race

    @abstractmethod
    def work(self) -> list[Work]:
        """Return what can be trained now, most urgent first."""

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
