"""The main settings of the winner of a race, and the values that are tried."""

from __future__ import annotations

from typing import Any

from augury.experiments.spec import parse
from augury.sweeping.proposals import main_settings, method_of, values_of, with_values

DECLARED: Any = {"coregularised": ("beta", [0.5, 2.0, 8.0]), "cipher": ("keys", [[1], [2], [1, 2]])}
BASE: dict[str, Any] = {
    "name": "toy",
    "task": "nmt",
    "corpus": {
        "source_language": "de",
        "target_language": "en",
        "train": {"builtin": 50},
        "valid": {"builtin": 5},
    },
    "augment": [{"operator": "word_drop"}, {"operator": "cipher", "keys": [1]}],
    "regime": {"name": "coregularised", "beta": 2},
}


def test_they_are_those_of_the_regime_and_of_operators() -> None:
    point = method_of(parse(BASE))
    domains = main_settings(point, DECLARED)
    assert list(domains) == ["regime.beta", "augment.1.keys"]
    assert values_of(point, domains) == {"regime.beta": 2, "augment.1.keys": [1]}


def test_a_point_with_other_values_differs_in_these_alone() -> None:
    point = method_of(parse(BASE))
    changed = parse({**BASE, **with_values(point, {"regime.beta": 8.0, "augment.1.keys": [1, 2]})})
    expected = {
        **BASE,
        "augment": [{"operator": "word_drop"}, {"operator": "cipher", "keys": [1, 2]}],
        "regime": {"name": "coregularised", "beta": 8.0},
    }
    assert changed == parse(expected)
    assert point == method_of(parse(BASE))
