"""The base experiment of the search spaces on translation, at three scales (`scales.yaml`).

toy: 1,000 pairs of the built-in synthetic corpus; small: the first 5,000 pairs of Multi30k; paper:
IWSLT14 de-en with the paper's model, for GPUs. `--dry-run` says how long each takes here. At every
scale all configurations have the same maximum number of epochs over the training pairs, and stop
early by patience.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

CIPHERDAUG: dict[str, Any] = {
    "name": "cipherdaug",
    "task": "nmt",
    "augment": [{"operator": "cipher", "keys": [1, 2]}],
    "regime": {"name": "coregularised", "beta": 5},
}
TRANSLATION: dict[str, dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
)
RELEASED = "released_code"
"""The scale of a paper's corpora with the settings of its released code."""
ONSET: dict[str, dict[str, Any]] = {
    "toy": {"regime.warmup_epochs": 15},
    "small": {"regime.warmup_epochs": 10},
}
"""The onset of the divergence on small corpora."""


def size_of(scale: str) -> str:
    """Return `toy`, `small` or `paper`, of which size the corpora and models of a scale are."""
    name = scale.partition("/")[0]
    return "paper" if name == RELEASED else name


def at_scales(**dotted: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the scales with the onset of the divergence and additional dotted keys by scale."""
    return {
        name: keys | ONSET.get(name, {}) | dotted.get(name, {})
        for name, keys in TRANSLATION.items()
    }
