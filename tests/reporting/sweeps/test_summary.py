from __future__ import annotations

from typing import Any

import pytest

from augury.reporting.sweeps.summary import ranking, summarise


def test_seeds_that_have_finished_speak_or_else_those_that_have_begun(sweeps: Any) -> None:
    first, second = (sweeps.configuration({"regime.beta": beta}) for beta in (1, 2))
    for address, furthest in ((first, "finished"), (second, "stopped")):
        sweeps.trial(address, 1, [20, 31], furthest)
        sweeps.trial(address, 2, [40], "running")
        sweeps.trial(address, 3, [50], "failed", error="Diverged")
    values = {result.name: result.values for result in ranking(sweeps.load(ended=False))}
    assert values == {"beta=1": {1: 31}, "beta=2": {1: 31, 2: 40}}


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


def test_scores_are_compared_with_the_reference_alone(sweeps: Any) -> None:
    reference, rival = (sweeps.configuration({"regime.beta": beta}) for beta in (1, 2))
    sweeps.trial(rival, 1, [31])
    assert summarise(sweeps.load(ended=False)).comparisons == ()
    for progress, difference in (("running", None), ("finished", 1)):
        sweeps.trial(reference, 1, [30], progress)
        summary = summarise(sweeps.load(ended=False))
        (table,) = summary.comparisons
        differences = {row.name: row.difference for row in table.rows}
        assert differences == {"beta=1": None, "beta=2": difference}


def test_the_time_of_a_configuration_is_that_of_all_its_trainings(sweeps: Any) -> None:
    addresses = [sweeps.configuration({"regime.beta": beta}) for beta in (1, 2)]
    for address, seconds in zip(addresses, (60, 90), strict=True):
        run = sweeps.trial(address, 1, [30], seconds=seconds)
        scores = run.read_record("scores.json")
        run.write_record("scores.json", scores | {"cost": {**scores["cost"], "train_seconds": 200}})
    summary = summarise(sweeps.load([1]))
    assert [summary.seconds(result) for result in summary.ranking] == [200, 200]


def test_best_first_then_stopped_then_silent(sweeps: Any) -> None:
    addresses = [sweeps.configuration({"regime.beta": beta}) for beta in range(4)]
    for place, value, progress in ((1, 30, "finished"), (2, 31, "finished"), (3, 1, "stopped")):
        sweeps.trial(addresses[place], 1, [value], progress)
    names = [result.name for result in ranking(sweeps.load(mode="min"))]
    assert names == ["beta=1", "beta=2", "beta=3", "beta=0"]
