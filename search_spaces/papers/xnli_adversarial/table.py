"""A table of the paper: what its tables and figures have in common."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from augury.sweeping import printed
from augury.sweeping.declarations import Mode, PaperTable, Point
from augury.sweeping.printed import PrintedTable
from search_spaces.papers.xnli_adversarial.corpora import SCALES, XNLI_LANGUAGES

BASE: dict[str, Any] = {
    "name": "xnli",
    "task": "nli",
    "max_length": 128,
    "augment": [],
    "regime": {"name": "plain"},
    "baseline": False,
}


class Table(PaperTable):
    """A table whose fields are the paper's where it gives none."""

    paper: str = (
        "Dong, Zhu, Fu, Xu and de Melo (2021), Data Augmentation with Adversarial Training for "
        "Cross-Lingual NLI, ACL-IJCNLP, https://aclanthology.org/2021.acl-long.401"
    )
    base: Mapping[str, Any] = BASE
    scales: Mapping[str, Point] = SCALES
    metric: str = "valid/accuracy"
    mode: Mode = "max"
    seeds: tuple[int, ...] = (1, 2, 3, 4, 5)
    tolerance: float = 1.0  # the paper gives means of five runs, and no deviation
    text: Mapping[str, tuple[int, float]] = {"paper": (20_000, 45)}
    deviations: Mapping[str, tuple[str, ...]] | Path = Path(__file__).with_name("deviations.tsv")


def read(table: str) -> PrintedTable:
    """Return a printed table with the accuracy on every language."""
    columns = {**{language: language for language in XNLI_LANGUAGES}, "avg": "mean"}
    return printed.read(Path(__file__).with_name("published.tsv"), table, columns)
