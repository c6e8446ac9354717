"""Table 5: the leaderboard of WMT19 Robustness, French to English, BLEU without case on
MTNT2019."""

from __future__ import annotations

from typing import Any

from search_spaces.papers import noisy_nmt as common

QUESTION = "How far is the submitted French-English system from the other teams' systems?"

base, scales = common.BASE, common.scales("fr", "en", common.UNCASED)
metric, mode, seeds, reference = common.METRIC, common.MODE, common.SEEDS, "Ours"


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """The system that was submitted: merged MTNT, FT and FM."""
    return {"Ours": common.Direction(scale, "fr", "en").rows()["+FT+FM"]}


paper, tolerance = common.PAPER, common.TOLERANCE
where, published = "Table 5", common.leaderboard("table5")
unavailable = {name: common.LEADERBOARD for name in published.rows if name != "Ours"}
deviations = common.deviations()
