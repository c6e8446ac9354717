"""Table 12: data diversification, by models of several seeds and by the views of one CipherDAug
model."""

from __future__ import annotations

from typing import Any

from search_spaces.papers import cipherdaug as common

QUESTION = (
    "Can the views of one CipherDAug model replace the models of three seeds that diversify data?"
)

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "data-diverse, base"


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """Backward and forward translations of the training text, alone and together.

    Both bases are the baseline.
    """
    systems: dict[str, dict[str, Any]] = {}
    for name, views in (("data-diverse", False), ("CipherDAug+", True)):
        systems[f"{name}, base"] = common.row()
        systems[f"{name}, bwd."] = common.diversification(scale, views, forward=False)
        systems[f"{name}, fwd."] = common.diversification(scale, views, backward=False)
        systems[f"{name}, bidir."] = common.diversification(scale, views)
    return systems


paper, tolerance = common.PAPER, common.TOLERANCE
where, published = "Table 12", common.published("table12", "BLEU")
deviations = common.deviations()
