"""Table 3: what becomes of generated examples on whose label teacher and generator need not
agree."""

from __future__ import annotations

from typing import Any

from augury.sweeping.declarations import Rows
from search_spaces.papers.xnli_adversarial.systems import STRATEGY, pgd, row, sa
from search_spaces.papers.xnli_adversarial.table import Table, read

STRATEGIES: dict[str, dict[str, Any]] = {
    "Teacher (T = 0)": {"rectify": "teacher", "threshold": 0.0},
    "Teacher (T = 0.8)": STRATEGY,
    "TR (T = 0.8)": {"rectify": "teacher_or_requested", "threshold": 0.8},
    "Agreement": {"rectify": "agreement"},
    "Requested": {"rectify": "requested"},
}


def rows(scale: str) -> Rows:
    """SA and PGD with one strategy each."""
    return {
        name: row(sa(scale, **strategy), regime=pgd(scale)) for name, strategy in STRATEGIES.items()
    }


TABLE = Table(
    where="Table 3",
    question="Whose label should a generated example have, and which examples should be kept?",
    rows=rows,
    reference="Requested",
    published=read("table3"),
)
