"""What the rounds after the first add to a sweep: points that Optuna suggests, or, in a race of
methods, combinations of the best."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from augury.core.messages import say
from augury.core.naming import title
from augury.sweeping.applied import LeftOut
from augury.sweeping.declarations import Point
from augury.sweeping.plan import AT_ONCE, SweepPlan
from augury.sweeping.schedulers import Propose, Standings

COMBINATIONS = 2
"""How many combinations the second round adds to the winner of the first."""


@dataclass
class Proposals:
    """Plans the configurations of the rounds after the first; `know` tells the graph and the
    definition of the sweep of them."""

    plan: SweepPlan
    know: Callable[[], None]

    def of_points(self, samples: int) -> list[Propose]:
        """Return the rounds that bring the number of suggested points to `samples`."""

        def propose(standings: Standings) -> list[str]:
            from augury.sweeping.suggestions import suggest  # imports Optuna, which is slow

            plan = self.plan
            scored = [
                (planned.point, standings[address])
                for address, planned in plan.configurations.items()
                if address in standings
            ]
            count = min(AT_ONCE, samples - len(plan.suggested))
            points = suggest(plan.space, scored, plan.suggested, count)
            plan.suggested += points
            return self._add({title(point): point for point in points}, "suggested")

        return [propose] * len(range(AT_ONCE, samples, AT_ONCE))

    def combine(self, standings: Standings) -> list[str]:
        """Add combinations of the best rows of different families to the sweep; return the
        addresses of their configurations."""
        space, known = self.plan.space, self.plan.configurations
        ranking = [known[address].name for address in standings]
        combined = combined_rows(ranking, space.rows, space.families)
        return self._add(combined, "second round")

    def _add(self, points: Mapping[str, Point], what: str) -> list[str]:
        """Add points by name to the sweep; return the addresses of those that are new."""
        known, added = set(self.plan.configurations), []
        for name, point in points.items():
            planned = self.plan.add_allowed(point, name)
            if isinstance(planned, LeftOut):
                say(f"left out: {name}: {planned.reason}")
            elif planned.address not in known:
                added.append(planned.address)
                say(f"{what}: {name}")
        self.know()
        return added


def combined_rows(
    ranking: Sequence[str], rows: Mapping[str, Point], families: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """Return the best row with each of the next best of other families, by both names; best first.

    Rows are combined that have no more than one regime of their own: operators of both, in the
    order of the rows, under that regime.
    """
    combined: dict[str, dict[str, Any]] = {}
    known = [name for name in ranking if name in families]
    for position, name in enumerate(known):
        for other in known[position + 1 :]:
            point = _combination(rows[name], rows[other])
            if point and families[name] != families[other] and len(combined) < COMBINATIONS:
                combined[f"{name} + {other}"] = point
        if combined:  # those of worse rows would come with further ones only
            break
    return combined


def _combination(point: Point, other: Point) -> dict[str, Any] | None:
    """Return the operators of two points under the regime of one; None where both have one."""
    regimes = [settings.get("regime", {"name": "plain"}) for settings in (point, other)]
    named = [{"name": regime} if isinstance(regime, str) else regime for regime in regimes]
    trained = [regime for regime in named if regime.get("name", "plain") != "plain"]
    if len(trained) > 1:
        return None
    operators = [*point.get("augment", ()), *other.get("augment", ())]
    regime = trained[0] if trained else named[0]
    return {**point, **other, "augment": operators, "regime": regime}
