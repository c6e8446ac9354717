"""Table 3: French to English, tuned on noisy text with fuzzy matches and translations."""

from __future__ import annotations

from augury.sweeping.declarations import Rows
from search_spaces.papers.noisy_nmt.systems import Direction
from search_spaces.papers.noisy_nmt.table import Table, read


def rows(scale: str) -> Rows:
    """Every system that the paper trains, and mixed training, which it has in the other
    direction alone."""
    direction = Direction(scale, "fr", "en")
    return {**direction.rows(), "Mixed training": direction.mixed()}


TABLE = Table(
    where="Table 3",
    question="What helps on noisy French besides tuning on it, and what does it cost on clean "
    "text?",
    rows=rows,
    published=read("table3"),
)
