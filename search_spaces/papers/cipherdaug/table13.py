"""Table 13: CipherDAug against many methods on IWSLT14 De→En."""

from __future__ import annotations

from typing import Any

from search_spaces.papers import cipherdaug as common

QUESTION = "Where is CipherDAug among the methods that are known for IWSLT14 De→En?"

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "Transformer"


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """The systems of the table that Augury has."""
    return {
        "Transformer": common.row(),
        "Word Dropout": common.row(common.word_drop(scale)),
        "SwitchOut": common.row(common.switch_out(scale)),
        "DataDiverse": common.diversification(scale),
        "R-DROP": common.row(regime=common.r_drop(scale)),
        "CipherDAug-2 keys": common.cipherdaug(scale, 2),
    }


paper, tolerance = common.PAPER, common.TOLERANCE
where, published = "Table 13", common.published("table13", "De→En")
unavailable = dict.fromkeys(
    ("MixSeq", "SeqMix", "MixedRep", "Macaron Net", "BERT Fuse", "MAT", "UniDrop", "BiBERT"),
    common.LITERATURE,
)
deviations = common.deviations()
