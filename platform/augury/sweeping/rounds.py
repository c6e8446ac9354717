"""A race of the methods of a space, then of combinations of the best, then of their main settings.

Everything here is a function of scores: `benchmarks/race.py` runs it without training.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal

from augury.sweeping.declarations import Point
from augury.sweeping.final_seeds import FinalSeeds
from augury.sweeping.knowledge_gradient import KnowledgeGradient
from augury.sweeping.race import Work

COMBINATIONS = 2
"""How many combinations the second round adds to the winner of the first."""
TUNING_ROUNDS = 2
"""How many rounds try other values of the main settings of what leads."""
SUGGESTED = 3
"""Configurations of such a round; the next one learns from them."""

Standings = Mapping[str, float]
"""Configuration -> its expected mean over seeds, best first; without the reference."""
Propose = Callable[[Standings], Mapping[str, Collection[str]]]
"""Plans the configurations of the next round: each with those that it is made of."""


class Rounds(FinalSeeds):
    """Races configurations, then all of them with those that the next round proposes, and so on."""

    _race: KnowledgeGradient

    def __init__(
        self,
        reference: str,
        others: Sequence[str],
        seeds: Sequence[int],
        rounds: Sequence[Propose],
        *,
        mode: Literal["max", "min"],
    ):
        super().__init__(KnowledgeGradient(reference, others, seeds, mode=mode))
        self._proposals = list(rounds)

    def work(self) -> list[Work]:
        """Return what can be trained now, most urgent first."""
        if not self._race.finished:
            return self._race.work()
        names = dict.fromkeys([self._race.reference, *([self.best] if self.best else [])])
        return [work for name in names for work in self._race.missing(name)]

    def tell(self, configuration: str, seed: int, rung: int, value: float) -> None:
        """Record the value of a configuration with a seed at a rung."""
        self._race.tell(configuration, seed, rung, value)
        self._advance()

    def fail(self, configuration: str, seed: int) -> None:
        """Record that a configuration cannot be trained further with a seed."""
        self._race.fail(configuration, seed)
        self._advance()

    def _advance(self) -> None:
        """Begin the next round once the last one is decided."""
        while self._proposals and self._race.finished and self.best:
            if proposed := self._proposals.pop(0)(self._race.standings()):
                self._race.add(proposed)


def combinations(
    ranking: Sequence[str], rows: Mapping[str, Point], families: Mapping[str, str]
) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the best row with each of the next best of other families, by both names; best first.

    Rows are combined that have no more than one regime of their own: operators of both, in the
    order of the rows, under that regime.
    """
    combined: dict[tuple[str, str], dict[str, Any]] = {}
    known = [name for name in ranking if name in families]
    for position, name in enumerate(known):
        for other in known[position + 1 :]:
            point = _combination(rows[name], rows[other])
            if point and families[name] != families[other]:
                combined[name, other] = point
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
