"""Table 5: the leaderboard of WMT19 Robustness, French to English, BLEU without case on
MTNT2019."""

from __future__ import annotations

from augury.sweeping.declarations import Rows
from search_spaces.papers.noisy_nmt.settings import UNCASED, at_scales
from search_spaces.papers.noisy_nmt.systems import Direction
from search_spaces.papers.noisy_nmt.table import Table, leaderboard, other_teams


def rows(scale: str) -> Rows:
    """The system that was submitted: merged MTNT, FT and FM."""
    return {"Ours": Direction(scale, "fr", "en").rows()["+FT+FM"]}


PRINTED = leaderboard("table5")
TABLE = Table(
    where="Table 5",
    question="How far is the submitted French-English system from the other teams' systems?",
    scales=at_scales("fr", "en", UNCASED),
    rows=rows,
    published=PRINTED,
    unavailable=other_teams(PRINTED),
)
