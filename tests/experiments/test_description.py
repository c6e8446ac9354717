from __future__ import annotations

from typing import Any

from augury.experiments.run import differing_parameters
from augury.experiments.spec import parse

EXPERIMENT: dict[str, Any] = {
    "name": "ciphers",
    "task": "nmt",
    "corpus": {
        "source_language": "de",
        "target_language": "en",
        "train": {"builtin": 50},
        "valid": {"builtin": 50},
    },
}


def test_settings_at_their_defaults_do_not_differ() -> None:
    cipher = {
        "augment": [{"operator": "cipher", "keys": [1, 2, 3]}],
        "regime": {"name": "coregularised", "beta": 2.5},
        "training": {"learning_rate": 0.5},
    }
    systems = [parse({**EXPERIMENT, "regime": {"name": "plain"}}), parse({**EXPERIMENT, **cipher})]
    assert set(differing_parameters(systems)) == {
        "regime.name",
        "regime.beta",
        "augment.0.operator",
        "augment.0.keys",
        "training.learning_rate",
    }
