"""The main settings of the winner of a race, and the values that are tried."""

from __future__ import annotations

from typing import Any

from augury.experiments.spec import parse
from augury.sweeping.main_settings import (
    main_settings,
    sections,
    suggest,
    values_of,
    with_values,
)

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
    point = sections(parse(BASE))
    domains = main_settings(point, DECLARED)
    assert list(domains) == ["regime.beta", "augment.1.keys"]
    assert values_of(point, domains) == {"regime.beta": 2, "augment.1.keys": [1]}


def test_a_point_with_other_values_differs_in_these_alone() -> None:
    point = sections(parse(BASE))
    changed = parse({**BASE, **with_values(point, {"regime.beta": 8.0, "augment.1.keys": [1, 2]})})
    expected = {
        **BASE,
        "augment": [{"operator": "word_drop"}, {"operator": "cipher", "keys": [1, 2]}],
        "regime": {"name": "coregularised", "beta": 8.0},
    }
    assert changed == parse(expected)
    assert point == sections(parse(BASE))


def test_suggestions_are_new_and_a_function_of_the_scores() -> None:
    domains = main_settings(sections(parse(BASE)), DECLARED)
    scored = [({"regime.beta": 2.0, "augment.1.keys": [1]}, 20.0)]
    first = suggest(domains, scored, 4, mode="max")
    assert len(first) == 4 and first == suggest(domains, scored, 4, mode="max")
    assert scored[0][0] not in first
    every = suggest(domains, [*scored, *((values, 19.0) for values in first)], 20, mode="max")
    assert len(every) <= 4 and not any(values in first for values in every)
