"""The corpora of the paper and their replacements at smaller scales, with their settings."""

from __future__ import annotations

from typing import Any

from search_spaces.scales import RELEASED, TRANSLATION, TWO_GPUS, size_of

INTERVAL = 840
"""Updates between validations: the released script's epoch of 641,000 samples, which reads the
160,239 pairs of IWSLT14 four times, at about 763 samples in 20,000 tokens."""
RAW: dict[str, Any] = {"max_length": None, "max_ratio": None}
"""No filter: the paper prints raw counts of these corpora (footnote 3 and Section 3.1)."""


def trained(
    known: str, source: str, target: str, size: int, size_per_key: int, **changes: Any
) -> dict[str, Any]:
    """Return the paper's settings for one of its corpora, with the vocabulary's size without and
    for every key."""
    test = "newstest2014" if known == "wmt14" else "test"
    filtered = {"filter": RAW} if known in ("iwslt17", "ted") else {}
    return {
        "corpus": {
            "known": known,
            "source_language": source,
            "target_language": target,
            "tests": {test: {}},
            **filtered,
        },
        "vocabulary": {"size": size, "size_per_key": size_per_key},
        "model": {"architecture": "transformer_iwslt_de_en"},
        "training": {
            "preset": "paper",
            **TWO_GPUS,
            "precision": "bf16",
            "max_updates": 100_000,
            "validate_every": INTERVAL,
        },
        "scoring": {"metrics": ["multi_bleu", "bleu", "chrf"]},
        **changes,
    }


_SACRE = {"scoring": {"metrics": ["bleu", "chrf"]}}
IWSLT14 = trained("iwslt14", "de", "en", 12_000, 4_000)
WMT14 = "paper/wmt14-en-de"
CORPORA: dict[str, dict[str, Any]] = {
    "paper/iwslt14-en-de": trained("iwslt14", "en", "de", 12_000, 4_000),
    "paper/iwslt17-fr-en": trained("iwslt17", "fr", "en", 10_000, 3_000, **_SACRE),
    "paper/iwslt17-en-fr": trained("iwslt17", "en", "fr", 10_000, 3_000, **_SACRE),
    WMT14: trained(
        "wmt14",
        "en",
        "de",
        36_000,
        12_000,
        # With 36,000 + 12,000 entries: 68.7M, the 68M of Section 3.3; with a matrix for each side
        # it would be 93.3M.
        model={"architecture": "transformer_wmt_en_de", "share_all_embeddings": True},
        training={
            "preset": "paper",
            "max_tokens": 4096,
            "workers": 8,
            "precision": "bf16",
            "learning_rate": 7.0e-4,
            "warmup_updates": 4000,
            "max_updates": 400_000,
        },
        decoding={"beam": 4, "length_penalty": 0.6},
        scoring={"metrics": ["compound_bleu", "compound_bleu:t2t", "bleu", "chrf"]},
    ),
}
"""The corpora of Table 3 other than IWSLT14 De→En, by scale."""
TOY: dict[str, Any] = {
    "corpus": {
        "source_language": "qaa",
        "target_language": "qab",
        "train": {"builtin": 1000, "lexicon": 800},
        "valid": {"builtin": 200, "lexicon": 800},
        "tests": {"test": {"builtin": 500, "lexicon": 800}},
        "filter": {"max_ratio": 1.5},
    },
    "vocabulary": {"size": 600},
    "model": {**TRANSLATION["toy"]["model"], "feedforward_size": 256},
    "training": {
        "max_tokens": 500,
        "learning_rate": 5.0e-3,
        "warmup_updates": 80,
        "max_epochs": 72,
        "validate_every_epochs": 3,
        "patience": 8,
    },
}
"""For many rows in little time: two toy languages of short sentences, whose baseline is at its
plateau in 20 epochs."""
SCALES: dict[str, dict[str, Any]] = {
    "toy": TOY,
    "small": TRANSLATION["small"],
    "small/multi30k-10k": {**TRANSLATION["small"], "corpus.train.first": 10_000},
    "paper": IWSLT14,
}
ALL: dict[str, dict[str, Any]] = SCALES | {
    RELEASED: trained(
        "iwslt14",
        "de",
        "en",
        16_000,
        1,
        model={
            "architecture": "transformer_iwslt_de_en",
            "embeddings": {"name": "table", "size": 256},
        },
        training={"preset": RELEASED, "precision": "bf16", "max_updates": 100_000},
    )
}
"""With the released script, whose vocabulary and embeddings have one size for all systems."""


TEXT: dict[str, tuple[int, float]] = {
    "paper": (160_239, 26),
    RELEASED: (160_239, 26),
    "paper/iwslt14-en-de": (160_239, 26),
    "paper/iwslt17-fr-en": (236_000, 25),
    "paper/iwslt17-en-fr": (236_000, 25),
    WMT14: (4_500_000, 30),
}
"""About the training pairs of a scale, and the subwords of the longer side of one."""


def is_paper(scale: str) -> bool:
    """Tell whether a scale has the paper's corpora and settings."""
    return size_of(scale) == "paper"
