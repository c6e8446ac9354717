"""A race in two rounds: the methods of a space, then combinations of the best of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from augury.sweeping.declarations import Point
from augury.sweeping.race import RungDecision, Work
from augury.sweeping.reference import RaceWithReference

COMBINATIONS = 2
"""How many combinations the second round adds to the winner of the first."""

Combine = Callable[[Sequence[str]], Sequence[str]]
"""Plans combinations of configurations, given all of them, best first; returns theirs."""


class Rounds:
    """Races configurations, then the winner with combinations of the best ones.

    The second round knows all values of the first, so that it trains nothing twice.
    """

    def __init__(
        self,
        reference: str,
        others: Sequence[str],
        seeds: Sequence[int],
        rungs: Sequence[int | None],
        combine: Combine,
        *,
        mode: Literal["max", "min"],
    ):
        self.mode: Literal["max", "min"] = mode
        self.seeds, self.rungs = seeds, rungs
        self.reference = reference
        self._combine = combine
        self._first = RaceWithReference(reference, others, seeds, rungs, mode=mode)
        self._second: RaceWithReference | None = None
        self._ended = False
        """Whether the first round has ended, with or without combinations to race."""
        self._values: dict[Work, float] = {}
        self._failed: list[tuple[str, int]] = []

    def work(self) -> list[Work]:
        """Return what can be trained now, most urgent first."""
        return (self._second or self._first).work()

    def tell(self, configuration: str, seed: int, rung: int, value: float) -> None:
        """Record the value of a configuration with a seed at a rung."""
        self._values.setdefault(Work(configuration, seed, rung), value)
        if configuration in self._first.configurations:
            self._first.tell(configuration, seed, rung, value)
        if self._second and configuration in self._second.configurations:
            self._second.tell(configuration, seed, rung, value)
        self._advance()

    def fail(self, configuration: str, seed: int) -> None:
        """Record that a configuration cannot be trained further with a seed."""
        self._failed.append((configuration, seed))
        if configuration in self._first.configurations:
            self._first.fail(configuration, seed)
        if self._second and configuration in self._second.configurations:
            self._second.fail(configuration, seed)
        self._advance()

    @property
    def decisions(self) -> list[RungDecision]:
        """Return the decisions of both rounds."""
        second = self._second.decisions if self._second else []
        return [*self._first.decisions, *second]

    @property
    def eliminated(self) -> frozenset[str]:
        """Return the configurations that a round has eliminated."""
        second: frozenset[str] = self._second.eliminated if self._second else frozenset()
        return self._first.eliminated | second

    @property
    def finished(self) -> bool:
        """Return whether nothing is left to train."""
        return (self._second or self._first).finished

    def _advance(self) -> None:
        """Begin the second round once the race of the first has ended."""
        race = self._first.race
        if self._ended or not race.finished:
            return
        self._ended = True
        combined = self._combine(race.ranking()) if race.best else []
        if not race.best or not combined:
            return
        second = RaceWithReference(
            self.reference, [race.best, *combined], self.seeds, self.rungs, mode=self.mode
        )
        for work, value in self._values.items():
            if work.configuration in second.configurations:
                second.tell(*work, value)
        for configuration, seed in self._failed:
            if configuration in second.configurations:
                second.fail(configuration, seed)
        self._second = second


def combinations(
    ranking: Sequence[str], rows: Mapping[str, Point], families: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """Return the best row with each of the next best of other families, by name; best first.

    Rows are combined that have no more than one regime of their own: operators of both, in the
    order of the rows, under that regime.
    """
    combined: dict[str, dict[str, Any]] = {}
    known = [name for name in ranking if name in families]
    for position, name in enumerate(known):
        for other in known[position + 1 :]:
            point = _combination(rows[name], rows[other])
            if point and families[name] != families[other]:
                combined[f"{name} + {other}"] = point
        if combined:  # those of worse rows would come with further ones only
            break
    return dict(list(combined.items())[:COMBINATIONS])


def _combination(point: Point, other: Point) -> dict[str, Any] | None:
    """Return the operators of two points under the regime of one; None where both have one."""
    regimes = [settings["regime"] for settings in (point, other)]
    trained = [regime for regime in regimes if regime.get("name", "plain") != "plain"]
    if len(trained) > 1:
        return None
    operators = [*point.get("augment", ()), *other.get("augment", ())]
    return {
        **point,
        **other,
        "augment": operators,
        "regime": trained[0] if trained else regimes[0],
    }
