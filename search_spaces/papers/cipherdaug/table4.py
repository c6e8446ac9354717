"""Table 4: CipherDAug against other architectures and regularisation, on IWSLT14 De→En."""

from __future__ import annotations

from augury.sweeping.declarations import Rows
from search_spaces.papers.cipherdaug.systems import cipherdaug, r_drop, row
from search_spaces.papers.cipherdaug.table import LITERATURE, Table, read


def rows(scale: str) -> Rows:
    """The systems of the table that Augury has."""
    return {
        "Transformer": row(),
        "R-DROP": row(regime=r_drop(scale)),
        "CipherDAug-2 keys": cipherdaug(scale, 2),
    }


TABLE = Table(
    where="Table 4",
    question="Is CipherDAug better than R-Drop, which needs no enciphered text?",
    rows=rows,
    published=read("table4", mean="De→En"),
    unavailable=dict.fromkeys(("Macaron Net", "BERT Fuse", "MAT", "UniDrop", "BiBERT"), LITERATURE),
)
