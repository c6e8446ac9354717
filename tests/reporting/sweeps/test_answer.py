"""What may be said of a sweep, and which system it recommends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from augury.reporting.answer import answer, recommendation, sweep_answer, unconfirmed
from augury.reporting.sweeps.summary import recommended, summarise
from augury.sweeping.state import Sweep

NAMES = ("baseline", "ours", "other")


@pytest.fixture
def addresses(sweeps: Any) -> list[str]:
    return [sweeps.configuration({"a": index}, name) for index, name in enumerate(NAMES)]


def train(sweeps: Any, addresses: Sequence[str], *seeds: Sequence[float], **options: Any) -> None:
    for values, address in zip(seeds, addresses, strict=False):
        for seed, value in enumerate(values, start=1):
            sweeps.trial(address, seed, [value], **options)


def compare_with(sweep: Sweep, rival: str) -> str:
    """What the comparison of the reference with one other says where it is not confirmed."""
    summary = summarise(sweep)
    (table,) = summary.comparisons
    assert summary.leader is not None
    rows = tuple(row for row in table.rows if row.name in ("baseline", rival))
    return answer(replace(table, rows=rows), unconfirmed(summary, summary.leader))


def test_without_test_scores_there_is_no_answer(sweeps: Any, addresses: list[str]) -> None:
    sweeps.trial(addresses[1], 1, [20, 31.2], "running")
    assert sweep_answer(summarise(sweeps.load(ended=False))) == (
        "No answer yet: with 0 of 9 trials finished, ours leads with validation BLEU 31.2 (not "
        "trained to the end), and there are no test scores to compare."
    )
    for address in addresses:
        sweeps.trial(address, 1, [], "failed", error="Diverged")
    assert "no configuration came" in sweep_answer(summarise(sweeps.load([1])))


@pytest.mark.parametrize(
    ("seeds", "parts"),
    [
        # The pooled deviation is sqrt((2 + 2 + 0) / 6) = 0.816, 6 degrees of freedom, t = 2.447.
        (
            [(30, 31, 29), (33, 34, 35), (30, 30, 30)],
            [
                "ours leads with validation BLEU 34.0 [32.8, 35.2] (3 seeds), 4.0 more than "
                "baseline with 30.0 [28.8, 31.2] (3 seeds)",
            ],
        ),
        ([(30, 31), (30, 32), (29, 30)], ["it may be chance"]),
        ([(33,), (31,), (32,)], ["baseline leads", "1.0 more than other", "it may be chance"]),
    ],
)
def test_without_test_sets_validation_decides(
    sweeps: Any, addresses: list[str], seeds: Any, parts: list[str]
) -> None:
    train(sweeps, addresses, *seeds)
    sentence = sweep_answer(summarise(sweeps.load(tests=())))
    assert [part for part in parts if part not in sentence] == []


def test_what_leads_in_validation_is_judged_on_the_test_set(
    sweeps: Any, addresses: list[str]
) -> None:
    for address, value, bleu in zip(addresses, (30, 31, 32), (29, 35, 28), strict=True):
        sweeps.trial(address, 1, [value], bleu=bleu)
    sentence = compare_with(sweeps.load(), "other")
    assert sweep_answer(summarise(sweeps.load())) == sentence
    assert "other does not beat baseline" in sentence
    said = sweep_answer(summarise(sweeps.load(ended=False)))
    assert said == f"So far, with 3 of 9 trials finished: o{sentence[1:]}"


@pytest.mark.parametrize(
    ("mode", "winner", "name"),
    [("max", 31.0, "ours"), ("max", 29.0, "baseline"), ("max", 30.0, "baseline")]
    + [("min", 29.0, "ours"), ("min", 31.0, "baseline")],
)
def test_a_winner_that_does_not_help_is_not_recommended(
    sweeps: Any, mode: str, winner: float, name: str
) -> None:
    """A budget may have ended before another than it was known."""
    reference, ours = (sweeps.configuration({"a": of}, of) for of in ("baseline", "ours"))
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
    sweeps.trial(baseline, 1, [10.0], progress="running")
    assert recommendation(summarise(sweeps.load((1,), ended=False))) == ""
    sweeps.trial(baseline, 1, [30.0])
    sweeps.trial(stopped, 1, [36.0], progress="stopped")
    summary = summarise(sweeps.load((1,), ended=False))
    assert summary.leader is recommended(summary)
    assert recommendation(summary).startswith("Recommended so far, not confirmed: ours ")
    assert "ours" in sweep_answer(summary) and "stopped" not in sweep_answer(summary)


@pytest.mark.parametrize(("more", "enough"), [(1, False), (2, True)])
def test_one_validated_example_is_no_lead(
    sweeps: Any, addresses: list[str], more: int, enough: bool
) -> None:
    """Both at one seed: of k examples that one system alone has right, the error is sqrt(k)."""
    for address, value in zip(addresses, (90.0, 90.0 + 100 * more / 282), strict=False):
        folder = sweeps.trial(address, 1, [value])
        described = folder.read_record("run.json")
        inputs = [*described["inputs"], {"name": "valid", "address": "v" * 16, "rows": 282}]
        folder.write_record("run.json", described | {"inputs": inputs})
    summary = summarise(sweeps.load((1,), tests=()))
    counted = replace(summary, sweep=replace(summary.sweep, metric="valid/accuracy"))
    result = recommended(counted)
    assert result is not None and (result.name == "ours") == enough
