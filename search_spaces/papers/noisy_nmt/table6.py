"""Table 6: the leaderboard of WMT19 Robustness, English to French, BLEU without case on
MTNT2019."""

from __future__ import annotations

from typing import Any

from search_spaces.papers import noisy_nmt as common

QUESTION = "How far is the submitted English-French system from the other teams' systems?"

base, scales = common.BASE, common.scales("en", "fr", common.UNCASED + common.FIXED)
metric, mode, seeds, reference = common.METRIC, common.MODE, common.SEEDS, "Ours"


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """The system that was submitted: double tuning, punctuation fixed."""
    return {"Ours": common.Direction(scale, "en", "fr").rows()["+double tune"]}


paper, tolerance = common.PAPER, common.TOLERANCE
where, published = "Table 6", common.leaderboard("table6")
unavailable = {name: common.LEADERBOARD for name in published.rows if name != "Ours"}
deviations = common.deviations()
