"""Table 5: CipherDAug against multilingual training for a language with little text, Slovak."""

from __future__ import annotations

from typing import Any

from augury.sweeping.printed import PrintedTable
from search_spaces.papers import cipherdaug as common

QUESTION = "Can CipherDAug replace a related language and massively multilingual training where there is little text?"

base = common.BASE
scales = common.SCALES | {
    "paper": common.trained("ted", "sk", "en", 10_000, 3_000),
    "paper/ted-en-sk": common.trained("ted", "en", "sk", 10_000, 3_000),
}
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "Transformer"


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """A baseline of our own, which the table has not, and both systems of the paper."""
    return {
        "Transformer": common.row(),
        "CipherDAug - 1 key": common.cipherdaug(scale, 1),
        "CipherDAug - 2 keys": common.cipherdaug(scale, 2),
    }


def published(scale: str) -> PrintedTable:
    """Return the printed table, of which the column of the scale's direction compares."""
    return common.published("table5", "En-Sk" if scale == "paper/ted-en-sk" else "Sk-En")


paper, tolerance = common.PAPER, common.TOLERANCE
where = "Table 5"
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
unavailable = dict.fromkeys(OTHERS, common.LITERATURE)
deviations = common.deviations()
