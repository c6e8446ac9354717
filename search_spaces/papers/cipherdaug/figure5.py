"""Figure 5: how alike encoder states of plain and enciphered sources are, layer by layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from augury.analysis.correlation import correlations
from augury.analysis.system import System
from augury.sweeping import printed
from search_spaces.papers import cipherdaug as common

QUESTION = "Does a model that reads enciphered sources come to similar states for the same sentence?"

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "CipherDAug-2 keys"


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """CipherDAug with two keys."""
    return {"CipherDAug-2 keys": common.cipherdaug(scale, 2)}


def measure(system: System) -> Mapping[str, float]:
    """Return PWCCA of plain and enciphered states by key and layer, and of random numbers of their shape."""
    result = correlations([system])
    views = {f"{between.second[1]}, layer {between.second[2]}": between.value.pwcca for between in result.views}
    return {**views, "random numbers": result.views[0].noise.pwcca}


paper, tolerance = common.PAPER, common.TOLERANCE
where = "Figure 5"
published = printed.read(common.PUBLISHED, "figure5", {"random numbers": "random numbers"})
unavailable = {"random baseline": "a number of the shape of the states alone, which every row has too"}
deviations = common.deviations()
