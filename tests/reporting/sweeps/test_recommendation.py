"""What a sweep recommends: the winner of its race, or the reference where that is no worse."""

from __future__ import annotations

from typing import Any

import pytest

from augury.reporting.sweeps.recommendation import recommendation_text, recommended
from augury.reporting.sweeps.summary import summarise


@pytest.mark.parametrize(
    ("mode", "winner", "name"),
    [("max", 31.0, "ours"), ("max", 29.0, "baseline"), ("max", 30.0, "baseline")]
    + [("min", 29.0, "ours"), ("min", 31.0, "baseline")],
)
def test_a_winner_that_does_not_help_is_not_recommended(
    sweeps: Any, mode: str, winner: float, name: str
) -> None:
    """A race chooses among all others but the reference."""
    addresses = [sweeps.configuration({}, "baseline"), sweeps.configuration({"a": 1}, "ours")]
    for address, value in zip(addresses, (30.0, winner), strict=True):
        for seed in (1, 2):
            sweeps.trial(address, seed, [value + 0.1 * seed])
    sweeps.decide(addresses[1], 1, "chosen", winner, 0.5, 0.0)
    result = recommended(summarise(sweeps.load((1, 2), scheduler="halving", mode=mode)))
    assert result is not None and result.name == name


@pytest.mark.parametrize(("winner", "name"), [(30.15, "baseline"), (30.25, "ours")])
def test_a_winner_has_to_be_worth_its_time(sweeps: Any, winner: float, name: str) -> None:
    """Twice the training time has to bring 0.2 points."""
    addresses = [
        sweeps.configuration({}, "baseline"),
        sweeps.configuration({"a": 1}, "ours", price=0.2),
    ]
    for address, value in zip(addresses, (30.0, winner), strict=True):
        sweeps.trial(address, 1, [value])
    sweeps.decide(addresses[1], 1, "chosen", winner, 0.5, 0.0)
    summary = summarise(sweeps.load((1,), scheduler="halving", worth=0.2))
    result = recommended(summary)
    assert result is not None and result.name == name
    assert recommendation_text(summary).startswith(f"Recommended: {name} ")


def test_a_race_that_has_not_ended_recommends_the_best_that_has_finished(sweeps: Any) -> None:
    baseline, ours = sweeps.configuration({}, "baseline"), sweeps.configuration({"a": 1}, "ours")
    sweeps.trial(baseline, 1, [30.0])
    assert recommendation_text(summarise(sweeps.load((1,), ended=False))) == ""
    sweeps.trial(ours, 1, [31.0])
    assert recommendation_text(summarise(sweeps.load((1,), ended=False))).startswith(
        "Recommended so far: ours "
    )


def test_paused_systems_and_an_unfinished_reference_are_not_recommended_on(sweeps: Any) -> None:
    baseline, ours = sweeps.configuration({}, "baseline"), sweeps.configuration({"a": 1}, "ours")
    sweeps.trial(ours, 1, [31.0])
    sweeps.trial(baseline, 1, [10.0], progress="running")
    assert recommendation_text(summarise(sweeps.load((1,), ended=False))) == ""
    sweeps.trial(baseline, 1, [30.0])
    sweeps.trial(sweeps.configuration({"a": 2}, "paused"), 1, [36.0], progress="paused")
    text = recommendation_text(summarise(sweeps.load((1,), ended=False)))
    assert text.startswith("Recommended so far: ours ")
