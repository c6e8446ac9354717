"""A race beside the reference: what the others are compared with, and who wins, train with every seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from augury.sweeping.race import Exhaustive, Race, Verdict, Work


class RaceWithReference:
    """A race of the other configurations, while the reference trains with every seed, and in the end the winner too.

    A race spends no more seeds on the winner than it takes to tell it from the others. To say by how much it differs
    from the reference takes all of them, of these two.
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
        self._reference = reference
        self._whole = {name: Exhaustive([name], seeds, rungs, mode=mode) for name in (reference, *others)}

    def work(self) -> list[Work]:
        """Return what may be trained now; what the race wants first, since others wait for it."""
        ends = [self._reference, self.race.best] if self.race.over and self.race.best else [self._reference]
        return [*self.race.work(), *(work for name in ends for work in self._whole[name].work())]

    def tell(self, configuration: str, seed: int, rung: int, value: float) -> None:
        """Take the value of a configuration with a seed at a rung."""
        self._whole[configuration].tell(configuration, seed, rung, value)
        if configuration != self._reference:
            self.race.tell(configuration, seed, rung, value)

    def fail(self, configuration: str, seed: int) -> None:
        """Take note that a configuration cannot be trained further with a seed."""
        self._whole[configuration].fail(configuration, seed)
        if configuration != self._reference:
            self.race.fail(configuration, seed)

    @property
    def decisions(self) -> list[Verdict]:
        """Return the decisions of the race."""
        return self.race.decisions

    @property
    def out(self) -> frozenset[str]:
        """Return the configurations that have left the race."""
        return self.race.out

    @property
    def over(self) -> bool:
        """Return whether nothing is left to be trained."""
        return self.race.over and not self.work()
