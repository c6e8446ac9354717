"""Table 3: CipherDAug against augmentations of text, on five corpora and directions."""

from __future__ import annotations

from augury.sweeping.printed import PrintedTable
from search_spaces.papers.cipherdaug.corpora import ALL, CORPORA, WMT14
from search_spaces.papers.cipherdaug.systems import (
    BPE_DROPOUT,
    RAML,
    Rows,
    cipherdaug,
    diversification,
    row,
    switch_out,
    word_drop,
)
from search_spaces.papers.cipherdaug.table import LITERATURE, Table, read


def rows(scale: str) -> Rows:
    """Every system that the paper trains."""
    switched, dropped = switch_out(scale), word_drop(scale)
    return {
        "Transformer": row(),
        "WordDropout": row(dropped),
        "SwitchOut": row(switched),
        "RAML": row(RAML),
        "RAML+WordDropout": row(RAML, dropped),
        "RAML+SwitchOut": row(RAML, switched),
        "BPE-Dropout": row(BPE_DROPOUT),
        "Data Diverse": diversification(scale),
        "CipherDAug - 1 key": cipherdaug(scale, 1),
        "CipherDAug - 2 keys": cipherdaug(scale, 2),
    }


COLUMNS = {
    "paper/iwslt14-en-de": "IWSLT14 En→De",
    "paper/iwslt17-fr-en": "IWSLT17 Fr→En",
    "paper/iwslt17-en-fr": "IWSLT17 En→Fr",
    WMT14: "WMT14 En→De",
}


def published(scale: str) -> PrintedTable:
    """Return the printed table, of which the column of the scale's corpus compares."""
    return read("table3", mean=COLUMNS.get(scale, "IWSLT14 De→En"))


TABLE = Table(
    where="Table 3",
    question="Does CipherDAug beat word-level augmentation, BPE-dropout and data diversification?",
    scales=ALL | CORPORA,
    rows=rows,
    published=published,
    unavailable={"Mixed-Repr.": LITERATURE},
)
