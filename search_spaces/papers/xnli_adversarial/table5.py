"""Table 5: how many examples to make, with and without adversarial training."""

from __future__ import annotations

from typing import Any

from search_spaces.papers import xnli_adversarial as common

QUESTION = "How many augmented examples are worth making?"

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "XLM-R (20k)"


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """Operators by the number of examples that they make of 20,000, without PGD and then with
    it."""
    pgd = common.pgd(scale)
    augmentations = {
        "EA": {"20k": common.ea(scale, copies=1), "80k": common.ea(scale, copies=4)},
        "RA": {"20k": common.ra(scale, copies=1), "80k": common.ra(scale, copies=4)},
        "SA": {
            "20k": common.sa(scale, copies=1, labels="one_other"),
            "80k": common.sa(scale, copies=2),
        },
    }
    augmented = [
        (name, size, operator)
        for name, sizes in augmentations.items()
        for size, operator in sizes.items()
    ]
    return {
        "XLM-R (20k)": common.row(),
        **{f"+{name} ({size})": common.row(operator) for name, size, operator in augmented},
        "+PGD": common.row(regime=pgd),
        **{
            f"+{name} +PGD ({size})": common.row(operator, regime=pgd)
            for name, size, operator in augmented
        },
    }


paper, tolerance = common.PAPER, common.TOLERANCE
where, published = "Table 5", common.published("table5")
deviations = common.deviations(
    "how SA's 20k are chosen is not stated: one hypothesis is generated for each example, for one "
    "of the other labels"
)
