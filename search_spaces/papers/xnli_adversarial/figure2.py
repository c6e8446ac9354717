"""Figure 2: the improvements of Table 4 by language, on 10,000 and on 20,000 training examples."""

from __future__ import annotations

from typing import Any

from search_spaces.papers import xnli_adversarial as common
from search_spaces.papers.xnli_adversarial import table4

QUESTION = "In which languages do augmentation and adversarial training together help most?"

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = table4.reference

improvements = {
    f"{size} training": (f"+RA +SA +PGD ({size})", f"XLM-R ({size})") for size in ("10k", "20k")
}


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """The rows of Table 4 that the improvements are computed from."""
    systems = table4.rows(scale)
    return {name: systems[name] for pair in improvements.values() for name in reversed(pair)}


paper, tolerance = common.PAPER, common.TOLERANCE
where, published = "Figure 2", common.published("figure2")
deviations = table4.deviations
