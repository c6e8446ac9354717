"""Table 5: CipherDAug against multilingual training for a language with little text, Slovak."""

from __future__ import annotations

from augury.sweeping.declarations import Rows
from augury.sweeping.printed import PrintedTable
from search_spaces.papers.cipherdaug.corpora import SCALES, trained
from search_spaces.papers.cipherdaug.systems import cipherdaug, row
from search_spaces.papers.cipherdaug.table import LITERATURE, Table, read

OTHERS = (
    "1-1",
    "LRL+HRL",
    "+ SDE (Wang et al.; Gao et al.)",
    "+ Aug(incl. Mono 2M) (Xia et al.)",
    "+ Aug+Pivot (Ibid.)",
    "+ Aug+Pivot+WordSub (Ibid.)",
    "Many-to-One (Aharoni et al.)",
    "One-to-Many (Ibid.)",
    "Many-to-Many (Ibid.)",
)


def rows(scale: str) -> Rows:
    """A baseline of our own, which the table has not, and both systems of the paper."""
    return {
        "Transformer": row(),
        "CipherDAug - 1 key": cipherdaug(scale, 1),
        "CipherDAug - 2 keys": cipherdaug(scale, 2),
    }


def published(scale: str) -> PrintedTable:
    """Return the printed table, of which the column of the scale's direction compares."""
    return read("table5", mean="En-Sk" if scale == "paper/ted-en-sk" else "Sk-En")


TABLE = Table(
    where="Table 5",
    question=(
        "Can CipherDAug replace a related language and massively multilingual training where "
        "there is little text?"
    ),
    scales=SCALES
    | {
        "paper": trained("ted", "sk", "en", 10_000, 3_000),
        "paper/ted-en-sk": trained("ted", "en", "sk", 10_000, 3_000),
    },
    text=dict.fromkeys(("paper", "paper/ted-en-sk"), (61_000, 25.0)),
    rows=rows,
    published=published,
    unavailable=dict.fromkeys(OTHERS, LITERATURE),
)
