"""Figure 2: the improvements of Table 4 by language, on 10,000 and on 20,000 training examples."""

from __future__ import annotations

from augury.sweeping.declarations import Rows
from search_spaces.papers.xnli_adversarial import table4
from search_spaces.papers.xnli_adversarial.table import Table, read

IMPROVEMENTS = {
    f"{size} training": (f"+RA +SA +PGD ({size})", f"XLM-R ({size})") for size in ("10k", "20k")
}


def rows(scale: str) -> Rows:
    """The rows of Table 4 that the IMPROVEMENTS are computed from."""
    systems = table4.rows(scale)
    return {name: systems[name] for pair in IMPROVEMENTS.values() for name in reversed(pair)}


TABLE = Table(
    where="Figure 2",
    question="In which languages do augmentation and adversarial training together help most?",
    rows=rows,
    reference="XLM-R (20k)",
    published=read("figure2"),
    improvements=IMPROVEMENTS,
)
