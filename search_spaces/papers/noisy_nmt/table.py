"""A table of the paper: what its tables have in common."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from augury.sweeping import printed
from augury.sweeping.declarations import Mode, PaperTable, Point
from augury.sweeping.printed import PrintedTable
from search_spaces.papers.noisy_nmt.corpora import TESTS
from search_spaces.papers.noisy_nmt.settings import at_scales
from search_spaces.scales import RELEASED

PUBLISHED = Path(__file__).with_name("published.tsv")


class Table(PaperTable):
    """A table, from French to English, whose fields are the paper's where it gives none."""

    paper: str = (
        "Li and Specia (2019), Improving Neural Machine Translation Robustness via Data "
        "Augmentation: Beyond Back-Translation, W-NUT, https://aclanthology.org/D19-5543"
    )
    base: Mapping[str, Any] = {
        "name": "noisy_nmt",
        "task": "nmt",
        "augment": [],
        "regime": {"name": "plain", "label_smoothing": 0.1},
        "baseline": False,
    }
    scales: Mapping[str, Point] = at_scales("fr", "en")
    metric: str = "valid/loss"
    mode: Mode = "min"
    seeds: tuple[int, ...] = (1, 2, 3)
    tolerance: float = 1.0  # the paper gives single runs, and no deviation
    text: Mapping[str, tuple[int, float]] = dict.fromkeys(
        ("paper", RELEASED), (40_860_000, 34.0)
    )  # Table 1
    deviations: Mapping[str, tuple[str, ...]] | Path = Path(__file__).with_name("deviations.tsv")


def read(table: str, *columns: str) -> PrintedTable:
    """Return a printed table, of which these columns, by default those of the test sets, compare
    with the quantities of their names."""
    return printed.read(PUBLISHED, table, {column: column for column in columns or TESTS})


def leaderboard(table: str) -> PrintedTable:
    """Return a leaderboard, whose values are of MTNT2019."""
    return printed.read(PUBLISHED, table, {"BLEU-uncased": "MTNT2019"})


def other_teams(table: PrintedTable) -> dict[str, str]:
    """Return why the rows of a leaderboard other than the paper's are not run."""
    reason = (
        "another team's system (WMT19 Robustness): the value is theirs, and the system is not one "
        "of Augury"
    )
    return {name: reason for name in table.rows if name != "Ours"}
