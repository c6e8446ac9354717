"""Figure 4 (a): F-measure of words by their frequency in training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from augury.analysis.buckets import buckets
from augury.analysis.system import System
from augury.sweeping import printed
from search_spaces.papers import cipherdaug as common

QUESTION = "Does CipherDAug translate rare words better?"

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "Transformer"


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """The baseline and CipherDAug with two keys."""
    return {"Transformer": common.row(), "CipherDAug-2 keys": common.cipherdaug(scale, 2)}


def measure(system: System) -> Mapping[str, float]:
    """Return F-measure in per cent by how often training has seen a word."""
    (result,) = buckets([system])
    return {bucket.bucket: 100 * bucket.value for bucket in result.frequency}


paper, tolerance = common.PAPER, common.TOLERANCE
where = "Figure 4 (a)"
published = printed.read(common.PUBLISHED, "figure4", {})
deviations = common.deviations()
