"""Table 6: sizes of embeddings and vocabularies, without and with ciphers."""

from __future__ import annotations

from typing import Any

from augury.sweeping.declarations import Rows
from search_spaces.papers.cipherdaug.corpora import SCALES
from search_spaces.papers.cipherdaug.systems import cipherdaug, row
from search_spaces.papers.cipherdaug.table import Table, read

ENTRIES: dict[str, tuple[int, int]] = {
    "toy": (600, 1000),
    "small": (4000, 6600),
    "paper": (12_000, 20_000),
}
"""Of the plain bitext, and as many as with two keys."""
HALF: dict[str, int] = {"toy": 48, "small": 96, "paper": 256}
"""Half of the hidden size."""


def rows(scale: str) -> Rows:
    """Embeddings of 512 have the hidden size of the scale.

    Those of 256 have half of it, and are projected.
    """
    name = scale.partition("/")[0]
    usual, large = ENTRIES[name]
    half: dict[str, Any] = {"model.embeddings": {"name": "table", "size": HALF[name]}}
    return {
        "Transformer-256, 12k": row() | half | {"vocabulary.size": usual},
        "Transformer-512, 12k": row() | {"vocabulary.size": usual},
        "Transformer-256, 20k": row() | half | {"vocabulary.size": large},
        "Transformer-512, 20k": row() | {"vocabulary.size": large},
        "CipherDAug-1key, 256": cipherdaug(scale, 1) | half,
        "CipherDAug-1key, 512": cipherdaug(scale, 1),
        "CipherDAug-2keys, 256": cipherdaug(scale, 2) | half,
        "CipherDAug-2keys, 512": cipherdaug(scale, 2),
    }


TABLE = Table(
    where="Table 6",
    question="Does CipherDAug win by its larger vocabulary and its further parameters?",
    scales=SCALES,
    rows=rows,
    reference="Transformer-512, 12k",
    published=read("table6", mean="BLEU"),
)
