"""Table 3: French to English, tuned on noisy text with fuzzy matches and translations."""

from __future__ import annotations

from typing import Any

from search_spaces.papers import noisy_nmt as common

QUESTION = "What helps on noisy French besides tuning on it, and what does it cost on clean text?"

base, scales = common.BASE, common.scales("fr", "en")
metric, mode, seeds, reference = common.METRIC, common.MODE, common.SEEDS, common.REFERENCE


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """Every system that the paper trains, and mixed training, which it has in the other
    direction alone."""
    direction = common.Direction(scale, "fr", "en")
    return {**direction.rows(), "Mixed training": direction.mixed()}


paper, tolerance = common.PAPER, common.TOLERANCE
where, published = "Table 3", common.published("table3")
deviations = common.deviations()
