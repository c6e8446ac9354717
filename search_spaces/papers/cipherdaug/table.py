"""A table of the paper: what its tables and figures have in common."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from augury.sweeping import printed
from augury.sweeping.declarations import Mode, PaperTable, Point
from augury.sweeping.printed import PrintedTable
from search_spaces.papers.cipherdaug.corpora import ALL, TEXT

LITERATURE = "literature: the value is another paper's, and the system is not one of Augury"


class Table(PaperTable):
    """A table whose fields are the paper's where it gives none."""

    paper: str = (
        "Kambhatla, Born and Sarkar (2022), CipherDAug: Ciphertext based Data Augmentation for "
        "Neural Machine Translation, ACL, https://aclanthology.org/2022.acl-long.17"
    )
    base: Mapping[str, Any] = {
        "name": "cipherdaug",
        "task": "nmt",
        "augment": [],
        "regime": {"name": "plain"},
        "baseline": False,
    }
    scales: Mapping[str, Point] = ALL
    metric: str = "valid/bleu"
    mode: Mode = "max"
    seeds: tuple[int, ...] = (1, 2, 3)
    tolerance: float = 0.5  # the paper gives medians of three runs, and no deviation
    text: Mapping[str, tuple[int, float]] = TEXT
    deviations: Mapping[str, tuple[str, ...]] | Path = Path(__file__).with_name("deviations.tsv")


def read(table: str, *columns: str, mean: str | None = None) -> PrintedTable:
    """Return a printed table, of which these columns compare with the quantities of their names,
    and `mean` with the mean over test sets."""
    compared = {column: column for column in columns}
    file = Path(__file__).with_name("published.tsv")
    return printed.read(file, table, compared | ({mean: "mean"} if mean else {}))
