"""Figure 2: accuracy against the number of training examples, which is a reading (see `deviations`)."""

from __future__ import annotations

from typing import Any

from search_spaces.papers import xnli_adversarial as common

QUESTION = "With how few training examples does augmentation with adversarial training help most?"

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "XLM-R, all"

SHARES = {"all": 1, "half": 2, "quarter": 4}
EXAMPLES = {"toy": ("builtin", 3000), "small": ("subset", 10000), "paper": ("subset", 20000)}


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """The plain and the best system on ever fewer examples."""
    key, examples = EXAMPLES[scale]
    return {
        f"{system}, {share}": changes | {f"corpus.train.{key}": examples // parts}
        for share, parts in SHARES.items()
        for system, changes in (
            ("XLM-R", common.row()),
            ("+RA+SA+PGD", common.row(common.ra(scale), common.sa(scale), regime=common.pgd(scale))),
        )
    }


paper, tolerance = common.PAPER, common.TOLERANCE
where = "Figure 2"
published: dict[str, dict[str, float | None]] = {}
literature = {
    "XLM-R, all": {"Table 2": 69.1},
    "XLM-R, half": {"Table 4": 66.9},
    "+RA+SA+PGD, all": {"Table 2": 73.0},
    "+RA+SA+PGD, half": {"Table 4, with more SA for each example": 71.4},
}
deviations = common.deviations(
    "what the paper's Figure 2 plots, and its values, are not recorded here: these rows are a reading of what it asks"
)
