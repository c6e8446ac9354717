"""Sweep when the divergence starts on small corpora, whether it rises, and its weight."""

from __future__ import annotations

from typing import Any

from augury.sweeping.declarations import SearchSpace
from search_spaces.scales import CIPHERDAUG, TRANSLATION

ONSETS: dict[str, dict[str, Any]] = {
    "from epoch 5": {"regime.warmup_epochs": 5},
    "from epoch 10": {"regime.warmup_epochs": 10},
    "from epoch 15": {"regime.warmup_epochs": 15},
    "rising from epoch 5 to 20": {"regime.warmup_epochs": 5, "regime.ramp_epochs": 15},
}
KEYS = {"1 key": [1], "2 keys": [1, 2]}
PLAIN: dict[str, Any] = {"augment": [], "regime": {"name": "plain"}}
R_DROP: dict[str, Any] = {
    "augment": [],
    "regime": {"name": "coregularised", "preset": "r_drop"},
    "regime.beta": 1,
}


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """Return the baseline, R-Drop and CipherDAug by keys, weight and onset."""
    systems = {"baseline": PLAIN}
    for onset, settings in ONSETS.items():
        systems[f"R-Drop, {onset}"] = R_DROP | settings
    for name, keys in KEYS.items():
        for beta in (1, 2, 5):
            for onset, settings in ONSETS.items():
                weighted = {"augment.0.keys": keys, "regime.beta": beta}
                systems[f"{name}, β {beta}, {onset}"] = weighted | settings
    return systems


SPACE = SearchSpace(
    question=(
        "When should the divergence start on small corpora, and with what weight, for one and two "
        "keys?"
    ),
    base=CIPHERDAUG,
    scales=TRANSLATION,
    rows=rows,
    metric="valid/bleu",
    seeds=(1, 2, 3),
    scheduler="race",
)
