"""Table 9: ALONE embeddings, whose parameters do not depend on the vocabulary, in place of tables."""

from __future__ import annotations

from typing import Any

from search_spaces.papers import cipherdaug as common

QUESTION = "Does CipherDAug help as much where embeddings cost no parameters for a larger vocabulary?"

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "Transformer"

INTERMEDIATE: dict[str, int] = {"toy": 768, "small": 1536, "paper": 4096}


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """Both systems with tables, with ALONE and its vector as it is drawn, and with that vector trained."""
    size = INTERMEDIATE[scale.partition("/")[0]]

    def alone(freeze: bool) -> dict[str, Any]:
        return {"model.embeddings": {"name": "alone", "intermediate_size": size, "freeze_base": freeze}}

    systems: dict[str, dict[str, Any]] = {"Transformer": common.row(), "CipherDAug": common.cipherdaug(scale, 2)}
    for suffix, freeze in (("O frozen", True), ("O trained", False)):
        systems[f"Transformer + ALONE, {suffix}"] = common.row() | alone(freeze)
        systems[f"CipherDAug + ALONE, {suffix}"] = common.cipherdaug(scale, 2) | alone(freeze)
    return systems


paper, tolerance = common.PAPER, common.TOLERANCE
where, published = "Table 9", common.published("table9", "BLEU")
deviations = common.deviations()
