"""Table 7: one vocabulary learned jointly, or the union of separate ones."""

from __future__ import annotations

from typing import Any

from search_spaces.papers import cipherdaug as common

QUESTION = "Does it matter whether the vocabulary of plain and enciphered text is learned jointly?"

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "joint"

OF_A_KEY: dict[str, int] = {"toy": 300, "small": 2_000, "paper": 6_500}
"""Entries of a separate vocabulary of enciphered text."""


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """CipherDAug with two keys under both vocabularies."""
    size = OF_A_KEY[scale.partition("/")[0]]
    separate: dict[str, Any] = {
        "vocabulary.mode": "separate",
        "vocabulary.separate_size_per_key": size,
    }
    return {"joint": common.cipherdaug(scale, 2), "sep": common.cipherdaug(scale, 2) | separate}


paper, tolerance = common.PAPER, common.TOLERANCE
where, published = "Table 7", common.published("table7", "BLEU")
deviations = common.deviations()
