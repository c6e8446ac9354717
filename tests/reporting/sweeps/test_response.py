"""Shaded tables show how a score responds to what was swept."""

from __future__ import annotations

from typing import Any

import pytest

from augury.reporting.sweeps.response import responses
from augury.reporting.sweeps.summary import summarise
from augury.reporting.tables import Table


def cells(shown: Table) -> dict[str, list[Any]]:
    """The value and the shade of every cell, by the text of its row."""
    rows = {row.cells[0].text: row.cells[1:] for row in shown.rows}
    return {name: [(cell.order, cell.shade) for cell in row] for name, row in rows.items()}


@pytest.mark.parametrize(
    ("values", "ordered"),
    [
        ([5, 0, 1, 10, 2], ["0", "1", "2", "5", "10"]),
        (["rot", "eda", "rot"], ["rot", "eda"]),
        ([[1], [1, 2], [1]], ["1", "1+2"]),
    ],
)
def test_numbers_are_sorted_and_other_values_keep_their_order(
    sweeps: Any, values: list[Any], ordered: list[str]
) -> None:
    for place, value in enumerate(values):
        sweeps.trial(sweeps.configuration({"a.key": value}, f"{place}"), 1, [30])
    (shown,) = responses(summarise(sweeps.load()))
    assert [*cells(shown)] == ordered


@pytest.mark.parametrize(("metric", "sign"), [("bleu", 1), ("ter", -1)])
def test_two_keys_have_a_table_around_the_reference_with_merged_points(
    sweeps: Any, metric: str, sign: int
) -> None:
    sweeps.trial(sweeps.configuration({}, "baseline"), 1, [30], metric=metric)
    for beta, tau, value in ((0, 1, 29), (5, 1, 33), (5, 2, 31)):
        address = sweeps.configuration({"regime.beta": beta, "regime.tau": tau})
        for seed in (1, 2):
            sweeps.trial(address, seed, [value + seed - 1], metric=metric)
    merged = {"regime.beta": 0, "regime.tau": 2}
    sweeps.merged.append(
        {
            "point": merged,
            "same_as": "beta=0, tau=1",
            "reason": "no weight",
            "name": "beta=0, tau=2",
        }
    )
    (shown,) = responses(summarise(sweeps.load()))
    low, high = (29.5, pytest.approx(sign * -0.5 / 3.5)), (33.5, pytest.approx(sign * 1.0))
    assert cells(shown) == {"1": [low, high], "2": [low, (31.5, pytest.approx(sign * 1.5 / 3.5))]}
    assert shown.rows[0].cells[1].text.endswith("(2)")


@pytest.mark.parametrize("tests", [("test",), ()])
def test_one_key_or_more_have_means_over_the_others(sweeps: Any, tests: tuple[str, ...]) -> None:
    sweeps.trial(sweeps.configuration({}, "baseline"), 1, [29.5])
    for beta in (0, 5):
        for tau in (1, 2):
            for keys in ([1], [2]):
                point = {"regime.beta": beta, "regime.tau": tau, "augment.0.keys": keys}
                sweeps.trial(sweeps.configuration(point), 1, [30 + beta + tau / 10])
    by_beta, by_tau, by_keys = responses(summarise(sweeps.load(tests=tests)))
    values = {name: cell[0] for name, (cell,) in cells(by_beta).items()}
    assert values == {"0": pytest.approx(30.15), "5": pytest.approx(35.15)}
    assert [*cells(by_tau)] == [*cells(by_keys)] == ["1", "2"]


def test_what_is_not_trained_to_the_end_has_a_dagger_and_nothing_is_shown_of_one_point(
    sweeps: Any,
) -> None:
    addresses = [sweeps.configuration({"regime.beta": beta}) for beta in (0, 1)]
    assert responses(summarise(sweeps.load(ended=False))) == []
    sweeps.trial(addresses[0], 1, [30], "running")
    assert responses(summarise(sweeps.load(ended=False))) == []
    sweeps.trial(addresses[1], 1, [31], "stopped")
    (shown,) = responses(summarise(sweeps.load(ended=False)))
    assert [row.cells[1].text for row in shown.rows] == ["30.0 (1) †", "31.0 (1) †"]
