"""What may be said of a sweep, and which system it recommends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from augury.reporting.answer import recommendation, sweep_answer
from augury.reporting.sweeps.summary import recommended, summarise

NAMES = ("baseline", "ours", "other")


@pytest.fixture
def addresses(sweeps: Any) -> list[str]:
    return [sweeps.configuration({"a": index}, name) for index, name in enumerate(NAMES)]


def train(sweeps: Any, addresses: Sequence[str], *seeds: Sequence[float], **options: Any) -> None:
    for values, address in zip(seeds, addresses, strict=False):
        for seed, value in enumerate(values, start=1):
            sweeps.trial(address, seed, [value], **options)


def test_without_test_scores_there_is_no_answer(sweeps: Any, addresses: list[str]) -> None:
    sweeps.trial(addresses[1], 1, [20, 31.2], "running")
    assert sweep_answer(summarise(sweeps.load(ended=False))) == (
        "No answer yet: with 0 of 9 trials finished, ours leads with validation BLEU 31.2 (not "
        "trained to the end), and there are no test scores to compare."
    )
    for address in addresses:
        sweeps.trial(address, 1, [], "failed", error="Diverged")
    assert "nothing can be compared" in sweep_answer(summarise(sweeps.load([1])))


def test_what_was_cut_short_is_not_compared(sweeps: Any, addresses: list[str]) -> None:
    """An early validation says nothing of the end."""
    sweeps.trial(addresses[0], 1, [3, 30.0])
    sweeps.trial(addresses[1], 1, [4.0], "stopped")
    said = sweep_answer(summarise(sweeps.load([1], ended=False)))
    assert said.startswith("No answer yet: with 1 of") and "nothing to compare baseline" in said


def test_without_test_sets_validation_decides(sweeps: Any, addresses: list[str]) -> None:
    """The pooled deviation is sqrt((2 + 2 + 0) / 6) = 0.816, 6 degrees of freedom, t = 2.447."""
    train(sweeps, addresses, (30, 31, 29), (33, 34, 35), (30, 30, 30))
    assert sweep_answer(summarise(sweeps.load(tests=()))) == (
        "Without test sets, ours leads with validation BLEU 34.0 [32.8, 35.2] (3 seeds); these "
        "scores chose it: expect less on unseen text."
    )


@pytest.mark.parametrize(("run", "tests"), [({}, ("test",)), ({"tests": {}, "test": "valid"}, ())])
def test_only_that_nothing_is_learnt_is_said_where_that_is_so(
    sweeps: Any, addresses: list[str], run: dict[str, Any], tests: Sequence[str]
) -> None:
    """An output that is always the same scores more, on the test set or in validation."""
    sweeps.results.corpus([(f"ein Haus {row}", "the very same house") for row in range(20)])
    train(sweeps, addresses, (3.0,), (2.0,), (1.0,), **run)
    summary = summarise(sweeps.load([1], tests=tests))
    assert summary.leader is summary.reference
    assert "not shown to have learnt" in sweep_answer(summary)
    assert "leads" not in sweep_answer(summary)
    assert recommended(summary) is None and recommendation(summary) == ""


@pytest.mark.parametrize(
    ("mode", "winner", "name"),
    [("max", 31.0, "ours"), ("max", 29.0, "baseline"), ("max", 30.0, "baseline")]
    + [("min", 29.0, "ours"), ("min", 31.0, "baseline")],
)
def test_a_winner_that_does_not_help_is_not_recommended(
    sweeps: Any, mode: str, winner: float, name: str
) -> None:
    """A budget may have ended before another than it was known."""
    reference, ours = (sweeps.configuration({"a": named}, named) for named in ("baseline", "ours"))
    for address, value in ((reference, 30.0), (ours, winner)):
        for seed in (1, 2):
            tested = value if mode == "max" else -value
            sweeps.trial(address, seed, [value + 0.1 * seed], bleu=60 + tested)
    sweeps.chosen = ours
    summary = summarise(sweeps.load((1, 2), scheduler="race", mode=mode))
    result = recommended(summary)
    assert result is not None and result.name == name
    assert f": {name} (" in recommendation(summary)


def test_a_race_that_has_not_ended_recommends_the_best_that_has_finished(
    sweeps: Any, addresses: list[str]
) -> None:
    baseline, ours, stopped = addresses
    sweeps.trial(ours, 1, [31.0])
    sweeps.trial(baseline, 1, [30.0])
    sweeps.trial(stopped, 1, [36.0], progress="stopped")
    summary = summarise(sweeps.load((1,), ended=False))
    assert summary.leader is recommended(summary)
    assert recommendation(summary).startswith("Recommended so far, not confirmed: ours ")
    assert "ours" in sweep_answer(summary) and "stopped" not in sweep_answer(summary)
