"""Table 7: one vocabulary learned jointly, or the union of separate ones."""

from __future__ import annotations

from typing import Any

from augury.sweeping.declarations import Rows
from search_spaces.papers.cipherdaug.corpora import SCALES
from search_spaces.papers.cipherdaug.systems import cipherdaug
from search_spaces.papers.cipherdaug.table import Table, read

OF_A_KEY: dict[str, int] = {"toy": 300, "small": 2_000, "paper": 6_500}
"""Entries of a separate vocabulary of enciphered text."""


def rows(scale: str) -> Rows:
    """CipherDAug with two keys under both vocabularies."""
    size = OF_A_KEY[scale.partition("/")[0]]
    separate: dict[str, Any] = {
        "vocabulary.mode": "separate",
        "vocabulary.separate_size_per_key": size,
    }
    return {"joint": cipherdaug(scale, 2), "sep": cipherdaug(scale, 2) | separate}


TABLE = Table(
    where="Table 7",
    question="Does it matter whether the vocabulary of plain and enciphered text is learned "
    "jointly?",
    scales=SCALES,
    rows=rows,
    published=read("table7", mean="BLEU"),
)
