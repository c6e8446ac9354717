"""The sections that the reports of experiments, sweeps and papers' tables share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from augury.reporting.comparison import Comparison
from augury.reporting.figures import score_against_cost
from augury.reporting.report import Block, Charts, Section, section
from augury.reporting.score_tables import by_test
from augury.reporting.styles import Style


def test_sections(comparisons: Sequence[Comparison], what: str, *others: Block) -> list[Section]:
    """Return the scores on every test set beside each other, where there are several.

    `what` are the rows that p-values are corrected for, `others` further blocks.
    """
    if len(comparisons) < 2:
        return []
    baseline = comparisons[0].rows[0].name
    text = (
        f"Blue is better than {baseline} on the same test set, orange is worse; * p < 0.05, "
        f"** p < 0.01, corrected for the {what} of one set."
    )
    return [section("Test sets", by_test(comparisons), text, *others)]


def cost_sections(
    comparison: Comparison | None, styles: Mapping[str, Style] | None = None, more: str = ""
) -> list[Section]:
    """Return the chart of the score against cost, where times can be compared; `styles` are those
    of `score_against_cost`, `more` explains them."""
    charts = score_against_cost(comparison, styles) if comparison else []
    return [
        section("Score against cost", Charts([chart]), f"{chart.caption}{more}") for chart in charts
    ]
