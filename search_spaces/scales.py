"""The experiment that the spaces on translation start from, at three scales.

toy: the built-in synthetic corpus, a minute a trial on one core; small: the first 5,000 pairs of Multi30k, a quarter of
an hour a trial and more; paper: IWSLT14 de-en with the paper's model, for GPUs.
"""

from __future__ import annotations

from typing import Any

CIPHERDAUG: dict[str, Any] = {
    "name": "cipherdaug",
    "task": "nmt",
    "augment": [{"operator": "cipher", "keys": [1, 2]}],
    "regime": {"name": "coregularised", "beta": 5},
}

TRANSLATION: dict[str, dict[str, Any]] = {
    "toy": {
        "corpus": {
            "source_language": "de",
            "target_language": "en",
            "train": {"builtin": 2000, "lexicon": 400},
            "valid": {"builtin": 200, "lexicon": 400},
            "tests": {"test": {"builtin": 500, "lexicon": 400}},
        },
        "vocabulary": {"size": 1000, "size_per_key": 400},
        "model": {"architecture": "tiny", "encoder_layers": 1, "decoder_layers": 1, "hidden_size": 64,
                  "feedforward_size": 256},
        "training": {"max_tokens": 1000, "learning_rate": 5.0e-3, "warmup_updates": 150, "max_updates": 800,
                     "validate_every": 100, "patience": 100, "average_last": 2},
    },
    "small": {
        "corpus": {"known": "multi30k", "source_language": "de", "target_language": "en", "train": {"first": 5000}},
        "vocabulary": {"size": 3000, "size_per_key": 1000},
        "model": {"architecture": "tiny", "dropout": 0.2},
        "training": {"max_tokens": 1000, "learning_rate": 1.5e-3, "warmup_updates": 400, "max_updates": 6000,
                     "validate_every": 500, "patience": 5},
    },
    "paper": {
        "corpus": {"known": "iwslt14", "source_language": "de", "target_language": "en"},
        "vocabulary": {"size": 12000, "size_per_key": 4000},
        "model": {"architecture": "transformer_iwslt_de_en"},
        "training": {"preset": "paper", "precision": "bf16", "max_passes": 60, "max_updates": None},
    },
}  # fmt: skip


def at_scales(**dotted: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The scales, with further dotted keys for each that is named."""
    return {name: keys | dotted.get(name, {}) for name, keys in TRANSLATION.items()}
