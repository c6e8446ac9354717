"""Table 6: the leaderboard of WMT19 Robustness, English to French, BLEU without case on
MTNT2019."""

from __future__ import annotations

from augury.sweeping.declarations import Rows
from search_spaces.papers.noisy_nmt.settings import FIXED, UNCASED, at_scales
from search_spaces.papers.noisy_nmt.systems import Direction
from search_spaces.papers.noisy_nmt.table import Table, leaderboard, other_teams


def rows(scale: str) -> Rows:
    """The system that was submitted: double tuning, punctuation fixed."""
    return {"Ours": Direction(scale, "en", "fr").rows()["+double tune"]}


PRINTED = leaderboard("table6")
TABLE = Table(
    where="Table 6",
    question="How far is the submitted English-French system from the other teams' systems?",
    scales=at_scales("en", "fr", UNCASED + FIXED),
    rows=rows,
    published=PRINTED,
    unavailable=other_teams(PRINTED),
)
