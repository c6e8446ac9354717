"""Table 4: the fast gradient method against projected gradient descent, on 20,000 and on 10,000
training examples."""

from __future__ import annotations

from typing import Any

from augury.sweeping.declarations import Rows
from search_spaces.papers.xnli_adversarial.systems import fgm, pgd, ra, row, sa
from search_spaces.papers.xnli_adversarial.table import Table, read

HALF: dict[str, dict[str, Any]] = {
    "toy": {"corpus.train.builtin": 1500},
    "small": {"corpus.train.subset": 5000},
    "paper": {"corpus.train.subset": 10000},
}


def rows(scale: str) -> Rows:
    """SA makes as many examples of 10,000 as of 20,000, RA as many as there are."""
    reordered, fast, projected = ra(scale), fgm(scale), pgd(scale)
    systems: Rows = {}
    for size, copies, changes in (("10k", 4, HALF[scale]), ("20k", 2, {})):
        generated = sa(scale, copies)
        systems |= {
            f"XLM-R ({size})": row() | changes,
            f"+SA +FGM ({size})": row(generated, regime=fast) | changes,
            f"+SA +PGD ({size})": row(generated, regime=projected) | changes,
            f"+RA +SA +PGD ({size})": row(reordered, generated, regime=projected) | changes,
        }
    return systems


TABLE = Table(
    where="Table 4",
    question="Does a stronger attack make a better model, and does it all help with half of the "
    "examples too?",
    rows=rows,
    reference="XLM-R (20k)",
    published=read("table4"),
    improvements={
        f"Improvement(%) ({size})": (f"+RA +SA +PGD ({size})", f"XLM-R ({size})")
        for size in ("10k", "20k")
    },
)
