from __future__ import annotations

from typing import Any

import pytest

from augury.reporting.sweeps.summary import ranking, summarise
from augury.sweeping.state import Sweep


def by_name(sweep: Sweep) -> dict[str, Any]:
    return {result.name: result for result in ranking(sweep)}


def test_intervals_pool_the_variance_of_all_configurations(sweeps: Any) -> None:
    for beta, values in ((1, (30, 31, 32)), (2, (28, 30))):
        address = sweeps.configuration({"regime.beta": beta})
        for seed, value in enumerate(values, start=1):
            sweeps.trial(address, seed, [value])
    results = by_name(sweeps.load())
    pooled = ((2 + 2) / 3) ** 0.5  # squares within the two groups over 2 + 1 degrees of freedom
    for name, count in (("beta=1", 3), ("beta=2", 2)):
        half = 3.182446 * pooled / count**0.5  # Student's t, 97.5 %, 3 degrees of freedom
        assert results[name].interval == pytest.approx(
            (results[name].mean - half, results[name].mean + half)
        )


def test_seeds_that_have_finished_speak_or_else_those_that_have_begun(sweeps: Any) -> None:
    first, second = (sweeps.configuration({"regime.beta": beta}) for beta in (1, 2))
    for address, furthest in ((first, "finished"), (second, "stopped")):
        sweeps.trial(address, 1, [20, 31], furthest)
        sweeps.trial(address, 2, [40], "running")
        sweeps.trial(address, 3, [50], "failed", error="Diverged")
    results = by_name(sweeps.load(ended=False))
    assert [results[f"beta={beta}"].values for beta in (1, 2)] == [{1: 31}, {1: 31, 2: 40}]


@pytest.mark.parametrize(
    ("mode", "names"),
    [
        ("max", ["beta=2", "beta=1", "beta=3", "beta=0"]),
        ("min", ["beta=1", "beta=2", "beta=3", "beta=0"]),
    ],
)
def test_best_first_then_stopped_then_silent(sweeps: Any, mode: str, names: list[str]) -> None:
    addresses = [sweeps.configuration({"regime.beta": beta}) for beta in range(4)]
    sweeps.trial(addresses[1], 1, [30])
    sweeps.trial(addresses[2], 1, [31])
    sweeps.trial(addresses[3], 1, [40 if mode == "max" else 1], "stopped")
    assert [result.name for result in ranking(sweeps.load(mode=mode))] == names


@pytest.mark.parametrize(
    ("progress", "state"),
    [
        (["finished", "running"], "running"),
        (["failed", "finished"], "finished"),
        (["stopped", "waiting"], "stopped"),
        (["failed", "waiting"], "failed"),
    ],
)
def test_the_state_of_a_configuration(sweeps: Any, progress: list[str], state: str) -> None:
    address = sweeps.configuration({"regime.beta": 5})
    for seed, state_of_seed in enumerate(progress, start=1):
        if state_of_seed != "waiting":
            sweeps.trial(address, seed, [30], state_of_seed)
    (result,) = ranking(sweeps.load([1, 2]))
    assert result.state == state


def test_the_leader(sweeps: Any) -> None:
    addresses = [sweeps.configuration({"regime.beta": beta}) for beta in range(3)]
    assert summarise(sweeps.load(ended=False)).leader is None
    sweeps.trial(addresses[0], 1, [30])
    sweeps.trial(addresses[1], 1, [31], "running")
    sweeps.trial(addresses[2], 1, [35], "stopped")
    assert summarise(sweeps.load(ended=False)).leader.name == "beta=0"  # that has finished
    sweeps.trial(addresses[1], 1, [20, float("nan"), 31])
    for chosen, name in ((addresses[0], "beta=0"), ("no longer asked for", "beta=1")):
        sweeps.chosen = chosen
        assert summarise(sweeps.load(ended=True)).leader.name == name


def test_scores_are_compared_with_the_reference_alone(sweeps: Any) -> None:
    reference, rival = (sweeps.configuration({"regime.beta": beta}) for beta in (1, 2))
    sweeps.trial(rival, 1, [31])
    assert summarise(sweeps.load(ended=False)).comparisons == ()
    sweeps.trial(reference, 1, [20], "running")
    (table,) = summarise(sweeps.load(ended=False)).comparisons
    assert [(row.name, row.difference) for row in table.rows] == [
        ("beta=1", None),
        ("beta=2", None),
    ]
    sweeps.trial(reference, 1, [30])
    summary = summarise(sweeps.load())
    (table,) = summary.comparisons
    assert [(row.name, row.difference) for row in table.rows] == [("beta=1", None), ("beta=2", 1)]
    assert table.row(rival).scores["bleu"].value == 31
    assert summary.reference.name == "beta=1"
