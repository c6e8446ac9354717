"""Sweep when the divergence starts on small corpora, whether it rises, and its weight."""

from __future__ import annotations

from typing import Any

from search_spaces.scales import CIPHERDAUG, TRANSLATION

QUESTION = (
    "When should the divergence start on small corpora, and with what weight, for one and two keys?"
)

base = CIPHERDAUG
scales = TRANSLATION
ONSETS: dict[str, dict[str, Any]] = {
    "from pass 5": {"regime.warmup_passes": 5},
    "from pass 10": {"regime.warmup_passes": 10},
    "from pass 15": {"regime.warmup_passes": 15},
    "rising from pass 5 to 20": {"regime.warmup_passes": 5, "regime.ramp_passes": 15},
}
KEYS = {"1 key": [1], "2 keys": [1, 2]}
PLAIN = {"augment": [], "regime": {"name": "plain"}}
R_DROP = {"augment": [], "regime": {"name": "coregularised", "preset": "r_drop"}, "regime.beta": 1}
rows = {
    "baseline": PLAIN,
    **{f"R-Drop, {onset}": {**R_DROP, **settings} for onset, settings in ONSETS.items()},
    **{
        f"{keys}, β {beta}, {onset}": {
            "augment.0.keys": KEYS[keys],
            "regime.beta": beta,
            **settings,
        }
        for keys in KEYS
        for beta in (1, 2, 5)
        for onset, settings in ONSETS.items()
    },
}
metric, mode = "valid/bleu", "max"
seeds = (1, 2, 3)
scheduler = "halving"
