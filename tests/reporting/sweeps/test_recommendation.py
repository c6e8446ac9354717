"""What a sweep recommends: the winner of its race, or the reference where that is no worse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from augury.reporting.sweeps.answer import answer, recommendation
from augury.reporting.sweeps.summary import recommended, summarise


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
            tested = value if mode == "max" else -value
            sweeps.trial(address, seed, [value + 0.1 * seed], bleu=60 + tested)
    sweeps.decide(addresses[1], "chosen", winner, 0.5, 0.0)
    result = recommended(summarise(sweeps.load((1, 2), scheduler="race", mode=mode)))
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
    sweeps.decide(addresses[1], "chosen", winner, 0.5, 0.0)
    summary = summarise(sweeps.load((1,), scheduler="race", worth=0.2))
    result = recommended(summary)
    assert result is not None and result.name == name
    assert f": {name} (" in recommendation(summary)


def test_a_race_that_has_not_ended_recommends_the_best_that_has_finished(sweeps: Any) -> None:
    baseline, ours = sweeps.configuration({}, "baseline"), sweeps.configuration({"a": 1}, "ours")
    sweeps.trial(baseline, 1, [30.0])
    assert recommendation(summarise(sweeps.load((1,), ended=False))) == ""
    sweeps.trial(ours, 1, [31.0])
    assert recommendation(summarise(sweeps.load((1,), ended=False))).startswith(
        "Recommended so far, not confirmed: ours "
    )


def test_stopped_systems_and_an_unfinished_reference_are_not_recommended_on(sweeps: Any) -> None:
    baseline, ours = sweeps.configuration({}, "baseline"), sweeps.configuration({"a": 1}, "ours")
    sweeps.trial(ours, 1, [31.0])
    sweeps.trial(baseline, 1, [10.0], progress="running")
    assert recommendation(summarise(sweeps.load((1,), ended=False))) == ""
    sweeps.trial(baseline, 1, [30.0])
    sweeps.trial(sweeps.configuration({"a": 2}, "stopped"), 1, [36.0], progress="stopped")
    text = recommendation(summarise(sweeps.load((1,), ended=False)))
    assert text.startswith("Recommended so far, not confirmed: ours ")


def test_the_answer_is_about_what_is_recommended(sweeps: Any) -> None:
    """Not about a stopped system that is ahead for now."""
    baseline, ours = sweeps.configuration({}, "baseline"), sweeps.configuration({"a": 1}, "ours")
    sweeps.trial(baseline, 1, [30.0])
    sweeps.trial(ours, 1, [31.0])
    sweeps.trial(sweeps.configuration({"a": 2}, "stopped"), 1, [36.0], progress="stopped")
    summary = summarise(sweeps.load((1,), ended=False))
    assert summary.leader is recommended(summary)
    said, _, counts = answer(summary).rpartition("; ")
    assert "ours" in said and "stopped" not in said
    assert counts == "1 of 3 configurations was stopped early."


@pytest.mark.parametrize(("more", "enough"), [(1, False), (2, True)])
def test_one_validated_example_is_no_lead(sweeps: Any, more: int, enough: bool) -> None:
    """Both at one seed: of k examples that one system alone has right, the error is sqrt(k)."""
    baseline, ours = sweeps.configuration({}, "baseline"), sweeps.configuration({"a": 1}, "ours")
    for address, value in ((baseline, 90.0), (ours, 90.0 + 100 * more / 282)):
        folder = sweeps.trial(address, 1, [value])
        described = folder.read_record("run.json")
        inputs = [*described["inputs"], {"name": "valid", "address": "v" * 16, "rows": 282}]
        folder.write_record("run.json", described | {"inputs": inputs})
    summary = summarise(sweeps.load((1,), tests=()))
    counted = replace(summary, sweep=replace(summary.sweep, metric="valid/accuracy"))
    result = recommended(counted)
    assert result is not None and (result.name == "ours") == enough
