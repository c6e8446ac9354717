"""A race beside a reference, in rounds where methods race: the methods of a space, combinations of
the best, their main settings.

Everything here is a function of scores: `benchmarks/race.py` runs it without training.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from augury.sweeping.declarations import Point
from augury.sweeping.race import Exhaustive, Race, RungDecision, Work

COMBINATIONS = 2
"""How many combinations the second round adds to the winner of the first."""
CONFIDENCE, PILOTS = 0.85, 3
"""Of the intervals that stop a configuration, and the configurations of a race whose second seed
shows the noise, where rounds follow: less than in a single race, as what a round keeps is paid for
in every later one. `benchmarks/race.py` says what they cost and what they lose."""

Standings = Mapping[str, float]
"""Configuration -> its mean over seeds as far as it was trained; the winner first, then the others,
best first."""
Propose = Callable[[Standings], Sequence[str]]
"""Plans the configurations that race with the winner in the next round."""


class Rounds:
    """Races configurations, then the winner with those that the next round proposes, and so on.

    A round knows all earlier values, so that nothing is trained twice. The reference trains with
    all seeds, the first before all others, so that a race that is ended early has something to
    compare with; and the last winner after the races: a race spends no more seeds on it than it
    needs to separate it from the others. Without further rounds it is a single race.
    """

    def __init__(
        self,
        reference: str,
        others: Sequence[str],
        seeds: Sequence[int],
        rungs: Sequence[int | None],
        rounds: Sequence[Propose],
        *,
        mode: Literal["max", "min"],
    ):
        self.mode: Literal["max", "min"] = mode
        self.seeds = tuple(seeds)
        self.rungs, self.reference = rungs, reference
        self._proposals = list(rounds)
        self._settings: dict[str, Any] = (
            {"confidence": CONFIDENCE, "pilots": PILOTS} if rounds else {}
        )
        self._own = Exhaustive([reference], seeds, rungs, mode=mode)
        self._races = [self._race(others)]
        self._values: dict[Work, float] = {}
        self._failed: list[tuple[str, int]] = []

    def work(self) -> list[Work]:
        """Return what can be trained now, most urgent first."""
        own = self._own.work()
        first = (
            [] if any(work.configuration == self.reference for work in self._values) else own[:1]
        )
        return [*first, *self._races[-1].work(), *own[len(first) :], *self._of_winner()]

    def tell(self, configuration: str, seed: int, rung: int, value: float) -> None:
        """Record the value of a configuration with a seed at a rung."""
        self._values.setdefault(Work(configuration, seed, rung), value)
        for race in self._with(configuration):
            race.tell(configuration, seed, rung, value)
        self._advance()

    def fail(self, configuration: str, seed: int) -> None:
        """Record that a configuration cannot be trained further with a seed."""
        self._failed.append((configuration, seed))
        for race in self._with(configuration):
            race.fail(configuration, seed)
        self._advance()

    @property
    def best(self) -> str | None:
        """The winner of the last race that is decided; None before one is."""
        winners = [race.best for race in self._races if race.best]
        return winners[-1] if winners else None

    @property
    def decisions(self) -> list[RungDecision]:
        """Return the decisions of all rounds."""
        decisions: list[RungDecision] = []
        for race in self._races:
            decisions += race.decisions
        return decisions

    @property
    def eliminated(self) -> frozenset[str]:
        """Return the configurations that a race has eliminated and that are not in the last one."""
        eliminated: set[str] = set()
        for race in self._races:
            eliminated = (eliminated - {*race.configurations}) | race.eliminated
        return frozenset(eliminated)

    @property
    def finished(self) -> bool:
        """Return whether nothing is left to train."""
        return self._races[-1].finished and not self.work()

    def standings(self) -> dict[str, float]:
        """Return the mean of every configuration but the reference over its seeds."""
        sign = 1 if self.mode == "max" else -1
        groups: dict[str, dict[int, list[float]]] = {}
        for (name, _, rung), value in self._values.items():
            if name != self.reference:
                groups.setdefault(name, {}).setdefault(rung, []).append(value)
        means = {name: statistics.fmean(by_rung[max(by_rung)]) for name, by_rung in groups.items()}

        def place(name: str) -> tuple[bool, int, float]:
            return name == self.best, max(groups[name]), sign * means[name]

        return {name: means[name] for name in sorted(means, key=place, reverse=True)}

    def _with(self, configuration: str) -> list[Race | Exhaustive]:
        """Return the races that a configuration has a part in."""
        races: list[Race | Exhaustive] = [self._own, *self._races]
        return [race for race in races if configuration in race.configurations]

    def _advance(self) -> None:
        """Begin the next round once the race of the last one has ended."""
        while self._proposals and self._races[-1].finished and self._races[-1].best:
            if proposed := list(self._proposals.pop(0)(self.standings())):
                self._begin([self._races[-1].best, *proposed])

    def _begin(self, configurations: Sequence[str]) -> None:
        race = self._race(configurations)
        self._races.append(race)
        for work, value in self._values.items():
            if work.configuration in race.configurations:
                race.tell(*work, value)
        for configuration, seed in self._failed:
            if configuration in race.configurations:
                race.fail(configuration, seed)

    def _race(self, configurations: Sequence[str]) -> Race:
        return Race(configurations, self.seeds, self.rungs, mode=self.mode, **self._settings)

    def _of_winner(self) -> list[Work]:
        """Return the missing seeds of the winner, once the last race is decided."""
        best, last = self._races[-1].best, len(self.rungs) - 1
        if self._proposals or best is None:
            return []
        works = [Work(best, seed, last) for seed in self.seeds]
        return [work for work in works if work not in self._values and work[:2] not in self._failed]


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
