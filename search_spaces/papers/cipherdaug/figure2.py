"""Figure 2: the number of keys, and the weight of the agreement."""

from __future__ import annotations

from typing import Any

from search_spaces.papers import cipherdaug as common

QUESTION = "How many keys are best, and how strongly should views agree?"

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "baseline"


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """Keys under the usual weight, and weights with two keys.

    Β is the paper's, and a fifth of it at other scales.
    """
    weight = 1 if common.is_paper(scale) else 0.2
    return {
        "baseline": common.row(),
        **{
            f"{keys} key{'s' * (keys > 1)}, β 5": common.cipherdaug(scale, keys)
            for keys in (1, 2, 3, 4, 5)
        },
        **{
            f"2 keys, β {beta}": common.row(
                common.cipher(2), regime=common.agreement(scale, beta=beta * weight)
            )
            for beta in (0, 1, 2, 10)
        },
    }


paper, tolerance = common.PAPER, common.TOLERANCE
where, published = "Figure 2", common.published("figure2", "BLEU")
_WEIGHTS = "β in names is five times that of the rows: 5 means 1"
deviations = {
    scale: lines if scale == "paper" else (*lines, _WEIGHTS)
    for scale, lines in common.deviations().items()
}
