"""Table 13: CipherDAug against many methods on IWSLT14 De→En."""

from __future__ import annotations

from search_spaces.papers.cipherdaug.systems import (
    Rows,
    cipherdaug,
    diversification,
    r_drop,
    row,
    switch_out,
    word_drop,
)
from search_spaces.papers.cipherdaug.table import LITERATURE, Table, read


def rows(scale: str) -> Rows:
    """The systems of the table that Augury has."""
    return {
        "Transformer": row(),
        "Word Dropout": row(word_drop(scale)),
        "SwitchOut": row(switch_out(scale)),
        "DataDiverse": diversification(scale),
        "R-DROP": row(regime=r_drop(scale)),
        "CipherDAug-2 keys": cipherdaug(scale, 2),
    }


TABLE = Table(
    where="Table 13",
    question="Where is CipherDAug among the methods that are known for IWSLT14 De→En?",
    rows=rows,
    published=read("table13", mean="De→En"),
    unavailable=dict.fromkeys(
        ("MixSeq", "SeqMix", "MixedRep", "Macaron Net", "BERT Fuse", "MAT", "UniDrop", "BiBERT"),
        LITERATURE,
    ),
)
