"""Table 12: data diversification, by models of several seeds and by the views of one CipherDAug
model."""

from __future__ import annotations

from augury.sweeping.declarations import Rows
from search_spaces.papers.cipherdaug.systems import diversification, row
from search_spaces.papers.cipherdaug.table import Table, read


def rows(scale: str) -> Rows:
    """Backward and forward translations of the training text, alone and together.

    Both bases are the baseline.
    """
    systems = {}
    for name, views in (("data-diverse", False), ("CipherDAug+", True)):
        systems[f"{name}, base"] = row()
        systems[f"{name}, bwd."] = diversification(scale, views, forward=False)
        systems[f"{name}, fwd."] = diversification(scale, views, backward=False)
        systems[f"{name}, bidir."] = diversification(scale, views)
    return systems


TABLE = Table(
    where="Table 12",
    question=(
        "Can the views of one CipherDAug model replace the models of three seeds that diversify "
        "data?"
    ),
    rows=rows,
    published=read("table12", mean="BLEU"),
)
