"""Figure 8: how often training has seen the rarest subword of another example, plain and
enciphered."""

from __future__ import annotations

from collections.abc import Mapping

from augury.analysis.system import System
from search_spaces.papers import cipherdaug as common
from search_spaces.papers.cipherdaug import figure7

SENTENCE = "wir alle lieben baseball, oder?"
QUESTION = (
    f"Is the rarest subword of '{SENTENCE}' more frequent in enciphered text than in plain text?"
)

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, (1,)
rows = figure7.rows


def measure(system: System) -> Mapping[str, float]:
    """Return the count by view; `augury analyze --which rare_subwords --texts` shows the
    subwords too."""
    return figure7.rarest_counts(system, SENTENCE, 1)


paper, tolerance = common.PAPER, common.TOLERANCE
where, published = "Figure 8", figure7.printed_counts("figure8")
deviations = common.deviations()
deviations["toy"] += (figure7.OTHER_TEXT,)
