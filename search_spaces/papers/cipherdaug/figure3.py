"""Figure 3: how often training has seen the rarest subword of a sentence, plain and enciphered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from augury.analysis.rare_subwords import rare_subwords
from augury.analysis.system import System
from augury.sweeping import printed
from search_spaces.papers import cipherdaug as common

QUESTION = (
    "Is the rarest subword of a sentence more frequent in enciphered text than in plain text?"
)

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """CipherDAug with two keys, whose views are counted."""
    return {"CipherDAug-2 keys": common.cipherdaug(scale, 2)}


def measure(system: System) -> Mapping[str, float]:
    """Return the mean over test sentences, by view; `augury analyze` tests the differences."""
    (result,) = rare_subwords([system])
    return {view.view: view.mean.value for view in result.views}


paper, tolerance = common.PAPER, common.TOLERANCE
where = "Figure 3"
published = printed.read(common.PUBLISHED, "figure3", {})
deviations = common.deviations()
