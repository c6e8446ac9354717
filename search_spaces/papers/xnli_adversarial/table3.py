"""Table 3: what becomes of generated examples on whose label teacher and generator need not
agree."""

from __future__ import annotations

from typing import Any

from search_spaces.papers import xnli_adversarial as common

QUESTION = "Whose label should a generated example have, and which examples should be kept?"

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "Requested"

STRATEGIES: dict[str, dict[str, Any]] = {
    "Teacher (T = 0)": {"rectify": "teacher", "threshold": 0.0},
    "Teacher (T = 0.8)": common.STRATEGY,
    "TR (T = 0.8)": {"rectify": "teacher_or_requested", "threshold": 0.8},
    "Agreement": {"rectify": "agreement"},
    "Requested": {"rectify": "requested"},
}


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """SA and PGD with one strategy each."""
    return {
        name: common.row(common.sa(scale, **strategy), regime=common.pgd(scale))
        for name, strategy in STRATEGIES.items()
    }


paper, tolerance = common.PAPER, common.TOLERANCE
where, published = "Table 3", common.published("table3")
deviations = common.deviations()
