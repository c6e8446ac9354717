from __future__ import annotations

from typing import Any

from augury.core import config
from augury.reporting.curves import noise_series


def parameters(tests: dict[str, Any]) -> dict[str, Any]:
    return config.flatten({"corpus": {"tests": tests}})


def test_series_of_test_sets() -> None:
    """One text at several rates of one kind, with the clean one; kinds, seeds and texts apart."""
    text, other = {"source": "a.fr", "where": {"set": "x"}}, {"source": "b.fr"}
    rates = {"spelling": 0.0, "casing": 0.0, "layout": "auto", "seed": 1}
    tests = {
        "typos-0.2": {**text, "noise": {**rates, "spelling": 0.2}},
        "clean": text,
        "typos-0.1": {**text, "noise": {**rates, "spelling": 0.1}},
        "both": {**text, "noise": {**rates, "spelling": 0.1, "casing": 0.1}},
        "mixed": {**text, "noise": {**rates, "spelling": 0.1, "casing": 0.2}},
        "other": {**other, "noise": {**rates, "spelling": 0.3}},
        "seed": {**text, "noise": {**rates, "spelling": 0.4, "seed": 2}},
    }
    assert noise_series(parameters(tests), list(tests)) == [
        (("spelling",), [(0.0, "clean"), (0.1, "typos-0.1"), (0.2, "typos-0.2")]),
        (("spelling", "casing"), [(0.0, "clean"), (0.1, "both")]),
        (("spelling",), [(0.0, "clean"), (0.4, "seed")]),
    ]
    assert not noise_series(parameters({"test": text}), ["test"])
