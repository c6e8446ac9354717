"""Table 4: CipherDAug against other architectures and regularisation, on IWSLT14 De→En."""

from __future__ import annotations

from typing import Any

from search_spaces.papers import cipherdaug as common

QUESTION = "Is CipherDAug better than R-Drop, which needs no enciphered text?"

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "Transformer"


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """The systems of the table that Augury has."""
    return {
        "Transformer": common.row(),
        "R-DROP": common.row(regime=common.r_drop(scale)),
        "CipherDAug-2 keys": common.cipherdaug(scale, 2),
    }


paper, tolerance = common.PAPER, common.TOLERANCE
where, published = "Table 4", common.published("table4", "De→En")
unavailable = dict.fromkeys(
    ("Macaron Net", "BERT Fuse", "MAT", "UniDrop", "BiBERT"), common.LITERATURE
)
deviations = common.deviations()
