"""Table 4: the fast gradient method against projected gradient descent, on 20,000 and on 10,000
training examples."""

from __future__ import annotations

from typing import Any

from search_spaces.papers import xnli_adversarial as common

QUESTION = "Does a stronger attack make a better model, and does it all help with half of the examples too?"

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "XLM-R (20k)"

HALF: dict[str, dict[str, Any]] = {
    "toy": {"corpus.train.builtin": 1500},
    "small": {"corpus.train.subset": 5000},
    "paper": {"corpus.train.subset": 10000},
}


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """SA makes as many examples of 10,000 as of 20,000, RA as many as there are."""
    ra, fgm, pgd = common.ra(scale), common.fgm(scale), common.pgd(scale)
    systems: dict[str, dict[str, Any]] = {}
    for size, copies, changes in (("10k", 4, HALF[scale]), ("20k", 2, {})):
        sa = common.sa(scale, copies)
        systems |= {
            f"XLM-R ({size})": common.row() | changes,
            f"+SA +FGM ({size})": common.row(sa, regime=fgm) | changes,
            f"+SA +PGD ({size})": common.row(sa, regime=pgd) | changes,
            f"+RA +SA +PGD ({size})": common.row(ra, sa, regime=pgd) | changes,
        }
    return systems


paper, tolerance = common.PAPER, common.TOLERANCE
where, published = "Table 4", common.published("table4")
improvements = {
    f"Improvement(%) ({size})": (f"+RA +SA +PGD ({size})", f"XLM-R ({size})")
    for size in ("10k", "20k")
}
deviations = common.deviations(
    "20k training examples stand for all of the scale, 10k for half of them; SA of the half makes "
    "as many as of all"
)
