"""What the rounds of a race after the first are made of: combinations of the best, and how many
settings of the winner are tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from augury.sweeping.declarations import Point

COMBINATIONS = 2
"""How many combinations the second round adds to the winner of the first."""
TUNING_ROUNDS = 2
"""How many rounds try other values of the main settings of what leads."""
SUGGESTED = 3
"""Configurations of such a round; the next one learns from them."""


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
