"""The base experiment of the search spaces on translation, at three scales.

toy: 1,000 pairs of the built-in synthetic corpus, one or two minutes per trial on one core; small:
the first 5,000 pairs of Multi30k, half an hour to two hours; paper: IWSLT14 de-en with the paper's
model, for GPUs. At every scale all configurations have the same maximum number of epochs over the
training pairs, and stop early by patience.
"""

from __future__ import annotations

from typing import Any

CIPHERDAUG: dict[str, Any] = {
    "name": "cipherdaug",
    "task": "nmt",
    "augment": [{"operator": "cipher", "keys": [1, 2]}],
    "regime": {"name": "coregularised", "beta": 5},
}

TWO_GPUS: dict[str, int] = {"max_tokens": 5000, "accumulation": 2, "workers": 2}
"""Batches of CipherDAug: on the paper's two GPUs, as many tokens an update as the released
script reads on one."""

TRANSLATION: dict[str, dict[str, Any]] = {
    "toy": {
        "corpus": {
            "source_language": "de",
            "target_language": "en",
            "train": {"builtin": 1000, "lexicon": 400},
            "valid": {"builtin": 200, "lexicon": 400},
            "tests": {"test": {"builtin": 500, "lexicon": 400}},
        },
        "vocabulary": {"size": 1000},
        "model": {
            "architecture": "tiny",
            "encoder_layers": 1,
            "decoder_layers": 1,
            "hidden_size": 96,
            "feedforward_size": 384,
            "dropout": 0.2,
        },
        "training": {
            "max_tokens": 1000,
            "learning_rate": 5.0e-3,
            "warmup_updates": 150,
            "max_epochs": 56,
            "validate_every_epochs": 7,
            "patience": 5,
        },
    },
    "small": {
        "corpus": {
            "known": "multi30k",
            "source_language": "de",
            "target_language": "en",
            "train": {"first": 5000},
        },
        "vocabulary": {"size": 4000},
        "model": {
            "architecture": "tiny",
            "hidden_size": 192,
            "feedforward_size": 768,
            "dropout": 0.3,
        },
        "training": {
            "max_tokens": 1500,
            "learning_rate": 2.0e-3,
            "warmup_updates": 400,
            "max_epochs": 200,
            "validate_every_epochs": 5,
            "patience": 8,
        },
    },
    "paper": {
        "corpus": {"known": "iwslt14", "source_language": "de", "target_language": "en"},
        "vocabulary": {"size": 12000, "size_per_key": 4000},
        "model": {"architecture": "transformer_iwslt_de_en"},
        "training": {
            "preset": "paper",
            **TWO_GPUS,
            "precision": "bf16",
            "max_epochs": 60,
            "validate_every_epochs": 4,
        },
    },
}
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
