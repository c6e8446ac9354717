"""Shaded tables show how a score responds to what was swept."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from augury.reporting.sweeps.response import responses
from augury.reporting.sweeps.summary import summarise
from augury.reporting.tables import Table


def cells(shown: Table) -> dict[str, list[Any]]:
    """The value and the shade of every cell, by the text of its row."""
    rows = {row.cells[0].text: row.cells[1:] for row in shown.rows}
    return {name: [(cell.order, cell.shade) for cell in row] for name, row in rows.items()}


def test_two_keys_have_a_table_around_the_reference_with_merged_points(sweeps: Any) -> None:
    sweeps.trial(sweeps.configuration({}, "baseline"), 1, [60], metric="ter")
    for beta, tau, value in ((5, 1, 57), (0, 1, 61), (5, 2, 59)):
        address = sweeps.configuration({"regime.beta": beta, "regime.tau": tau})
        for seed in (1, 2):
            sweeps.trial(address, seed, [value + seed - 1], metric="ter")
    merged = {"same_as": "beta=0, tau=1", "reason": "no weight", "name": "beta=0, tau=2"}
    sweeps.merged.append({"point": {"regime.beta": 0, "regime.tau": 2}, **merged})
    (shown,) = responses(summarise(sweeps.load()))
    low, high = (61.5, pytest.approx(-1.5 / 2.5)), (57.5, pytest.approx(1.0))
    assert cells(shown) == {"1": [low, high], "2": [low, (59.5, pytest.approx(0.5 / 2.5))]}
    assert shown.rows[0].cells[1].text.endswith("(2)")


def test_one_key_or_more_have_means_over_the_others(sweeps: Any) -> None:
    for beta, tau, keys in itertools.product((10, 5), (1, 2), ([1], [2])):
        point = {"regime.beta": beta, "regime.tau": tau, "augment.0.keys": keys}
        sweeps.trial(sweeps.configuration(point), 1, [30 + beta + tau / 10])
    by_beta, by_tau, by_keys = responses(summarise(sweeps.load()))
    values = {name: cell[0] for name, (cell,) in cells(by_beta).items()}
    assert [*values.items()] == [("5", pytest.approx(35.15)), ("10", pytest.approx(40.15))]
    assert [*cells(by_tau)] == [*cells(by_keys)] == ["1", "2"]
