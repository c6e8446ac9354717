"""Table 11: dropout, without and with CipherDAug."""

from __future__ import annotations

from typing import Any

from search_spaces.papers import cipherdaug as common

QUESTION = "Does CipherDAug regularise, so that it helps most where there is little dropout?"

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "Transformer, dropout 0.3"


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """Both systems at four rates."""
    systems = {"Transformer": common.row(), "CipherDAug": common.cipherdaug(scale, 2)}
    return {
        f"{name}, dropout {rate:g}": system | {"model.dropout": rate}
        for name, system in systems.items()
        for rate in (0, 0.1, 0.2, 0.3)
    }


paper, tolerance = common.PAPER, common.TOLERANCE
where, published = "Table 11", common.published("table11", "BLEU")
deviations = common.deviations()
