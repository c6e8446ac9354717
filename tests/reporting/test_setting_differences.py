"""The settings in which systems differ, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from augury.augment import operator
from augury.core.config import flatten
from augury.regimes.regime import parse
from augury.reporting.system_tables import setting_table
from tests.run_folders import load


def rows(results: Any, *systems: Mapping[str, Any]) -> list[list[str]]:
    runs = [
        results.run(f"system {index}", f"{index}a" * 8, parameters=parameters)
        for index, parameters in enumerate(systems)
    ]
    shown = setting_table(load(runs))
    return [] if shown is None else shown.lines()[1:]


def test_a_setting_that_is_unset_or_the_default_is_no_difference(results: Any) -> None:
    usual, own = parse("coregularised").to_dict(), parse({"name": "coregularised", "beta": 7.5})
    plain = {"regime.name": "plain", "augment": []}
    assert rows(results, plain, flatten({"regime": usual})) == [
        ["regime.name", "plain", "coregularised"]
    ]
    assert rows(results, plain, flatten({"regime": own.to_dict()})) == [
        ["regime.name", "plain", "coregularised"],
        ["regime.beta", "–", "7.5"],
    ]


def test_of_an_operator_its_name_and_what_is_not_its_default_are_shown(results: Any) -> None:
    cipher = operator.parse({"operator": "cipher", "keys": [1]}).to_dict()
    assert rows(results, {"augment": []}, flatten({"augment": [cipher]})) == [
        ["augment.0.operator", "–", "cipher"],
        ["augment.0.keys", "–", "[1]"],
    ]


def test_a_setting_of_an_operator_whose_file_is_gone_is_shown(results: Any) -> None:
    mine = {"augment.0.operator": "./gone.py", "augment.0.rate": 0.1}
    assert rows(results, {}, mine) == [
        ["augment.0.operator", "–", "./gone.py"],
        ["augment.0.rate", "–", "0.1"],
    ]


def test_equal_configurations_have_no_table(results: Any) -> None:
    assert rows(results, {"regime.name": "plain"}, {"regime.name": "plain"}) == []
