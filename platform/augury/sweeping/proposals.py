"""What the second round of a race adds: combinations of the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from augury.core.messages import say
from augury.sweeping.applied import LeftOut
from augury.sweeping.declarations import Point
from augury.sweeping.plan import SweepPlan
from augury.sweeping.schedulers import Standings

COMBINATIONS = 2
"""How many combinations the second round adds to the winner of the first."""


def combine(plan: SweepPlan, standings: Standings) -> list[str]:
    """Add combinations of the best rows of different families to a plan; return the addresses of
    those that are new."""
    known, added = set(plan.configurations), list[str]()
    ranking = [plan.configurations[address].name for address in standings]
    for name, point in combined_rows(ranking, plan.space.rows, plan.space.families).items():
        planned = plan.add_allowed(point, name)
        if isinstance(planned, LeftOut):
            say(f"left out: {name}: {planned.reason}")
        elif planned.address not in known:
            added.append(planned.address)
            say(f"second round: {name}")
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
