"""Settings without defaults describe the same experiment."""

from __future__ import annotations

from typing import Any

import pytest

from augury.experiments.spec import parse
from augury.reporting.sweeps.recommended import shortened

PAIRS = {
    "name": "my",
    "task": "nmt",
    "corpus": {
        "train": {"builtin": 300},
        "valid": {"builtin": 20, "seed": 2},
        "source_language": "de",
        "target_language": "en",
    },
}
CIPHERS = {"augment": [{"operator": "cipher", "keys": [1, 2]}], "regime": {"name": "coregularised"}}
LABELS = {
    "name": "my",
    "task": "classification",
    "corpus": {"labels": ["a", "b"], "form": "sentences", "language": "en"},
}


@pytest.mark.parametrize(
    "settings",
    [
        PAIRS,
        PAIRS | CIPHERS | {"seeds": [3, 4], "training": {"max_epochs": 7}},
        PAIRS | {"regime": {"name": "adversarial", "preset": "paper"}},
        PAIRS | {"augment": [{"operator": "word_drop"}], "mixture": {}},
    ],
)
def test_shortened_settings_describe_the_same_experiment(settings: dict[str, Any]) -> None:
    full = parse(dict(settings)).to_dict()
    short = shortened(full)
    assert parse(dict(short)).to_dict() == full
    assert len(str(short)) < len(str(full)) / 2


@pytest.mark.parametrize("model", [{"architecture": "tiny"}, {"name": "some/model"}])
def test_defaults_that_follow_the_model_are_kept_apart(model: dict[str, Any]) -> None:
    texts = {
        role: {"file": "a.csv", "label_column": "kind", "text_column": "text"}
        for role in ("train", "valid")
    }
    content = LABELS | {"corpus": {**LABELS["corpus"], **texts}, "model": model}  # type: ignore[dict-item]
    full = parse(content).to_dict()
    assert parse(shortened(full)).to_dict() == full
