"""Table 8: test sentences that a frequent subword before them makes a system hallucinate on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from augury.analysis.hallucination import hallucinations
from augury.analysis.system import System
from augury.sweeping import printed
from search_spaces.papers import cipherdaug as common

QUESTION = "Does CipherDAug hallucinate on fewer sentences when the source is perturbed?"

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "Transformer"


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """The baseline and CipherDAug with two keys."""
    return {"Transformer": common.row(), "CipherDAug-2 keys": common.cipherdaug(scale, 2)}


def measure(system: System) -> Mapping[str, float]:
    """Return the number of sentences (Algorithm 2 of Raunak et al. 2021, with 50 subwords)."""
    (result,) = hallucinations([system])
    return {"Hallucinations": len(result.hallucinated)}


paper, tolerance = common.PAPER, common.TOLERANCE
where = "Table 8"
published = printed.read(common.PUBLISHED, "table8", {"Hallucinations": "Hallucinations"})
sentences = {"toy": 200}
deviations = common.deviations()
deviations["toy"] += ("200 sentences of the test set, not about 7,000",)
deviations["small"] += ("1,000 sentences, not about 7,000",)
