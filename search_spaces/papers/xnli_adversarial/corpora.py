"""The corpora of the paper and their replacements at smaller scales, with their settings."""

from __future__ import annotations

from typing import Any

from augury.corpora.known import KNOWN_NLI

XNLI_LANGUAGES = tuple(KNOWN_NLI["xnli"].languages)
TOY_MODEL = {"architecture": "tiny", "vocabulary_size": 400, "dropout": 0}
TOY_TRAINING = {
    "learning_rate": 1.0e-3,
    "adam_betas": [0.9, 0.98],
    "schedule": "constant",
    "warmup_share": 0.33,
    "clip_norm": 1,
    "max_epochs": None,
    "max_updates": 1200,
    "validate_every": 150,
    "patience": 8,
}
SCALES: dict[str, dict[str, Any]] = {
    "toy": {
        "corpus": {
            "language": "qaa",
            "train": {"builtin": 3000, "lexicon": 24},
            "valid": {"builtin": 300, "lexicon": 24},
            "tests": {
                "qaa": {"builtin": 500, "lexicon": 24},
                "qab": {"builtin": 500, "lexicon": 24, "language": "qab"},
            },
        },
        "model": TOY_MODEL,
        "max_length": 64,
        "training": TOY_TRAINING,
    },
    "small": {
        "corpus": {
            "language": "en",
            "known": ["ling_in_loop", "xnli_dev"],
            "train": {"subset": 10000},
        },
        "model": {"architecture": "small"},
        "training": {"learning_rate": 3.0e-4},
    },
    "paper": {
        "corpus": {"language": "en", "known": ["xnli", "multi_nli"], "train": {"subset": 20000}},
        "model": {"name": "FacebookAI/xlm-roberta-base"},
        "training": {"precision": "bf16"},
    },
}
