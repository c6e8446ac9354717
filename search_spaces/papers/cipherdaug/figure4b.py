"""Figure 4 (b): BLEU of sentences by their length."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from augury.analysis.buckets import buckets
from augury.analysis.system import System
from augury.sweeping import printed
from search_spaces.papers import cipherdaug as common

QUESTION = "Does CipherDAug translate short and long sentences better?"

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "Transformer"


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """The baseline and CipherDAug with two keys."""
    return {"Transformer": common.row(), "CipherDAug-2 keys": common.cipherdaug(scale, 2)}


def measure(system: System) -> Mapping[str, float]:
    """Return BLEU of the sentences by the number of words of the reference; `augury analyze`
    tests the differences."""
    (result,) = buckets([system])
    return {bucket.bucket: bucket.value for bucket in result.length}


paper, tolerance = common.PAPER, common.TOLERANCE
where = "Figure 4 (b)"
published = printed.read(common.PUBLISHED, "figure4b", {})
deviations = common.deviations()
