"""Table 5: how many examples to make, with adversarial training."""

from __future__ import annotations

from typing import Any

from search_spaces.papers import xnli_adversarial as common

QUESTION = "How many augmented examples are worth making?"

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "+PGD"


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """Operators by the number of examples that they make of 20,000."""
    return {
        "+PGD": common.row(regime=common.pgd(scale)),
        "+EA+PGD, 20k": common.row(common.ea(copies=1), regime=common.pgd(scale)),
        "+EA+PGD, 80k": common.row(common.ea(), regime=common.pgd(scale)),
        "+RA+PGD, 20k": common.row(common.ra(scale), regime=common.pgd(scale)),
        "+RA+PGD, 80k": common.row(common.ra(scale, copies=4), regime=common.pgd(scale)),
        "+SA+PGD, 40k": common.row(common.sa(scale, copies=1), regime=common.pgd(scale)),
        "+SA+PGD, 80k": common.row(common.sa(scale), regime=common.pgd(scale)),
    }


paper, tolerance = common.PAPER, common.TOLERANCE
where = "Table 5"
published: dict[str, dict[str, float | None]] = {
    "+PGD": {"mean": None},
    "+EA+PGD, 20k": {"mean": None},
    "+EA+PGD, 80k": {"mean": None},
    "+RA+PGD, 20k": {"mean": None},
    "+RA+PGD, 80k": {"mean": None},
    "+SA+PGD, 40k": {"mean": None},
    "+SA+PGD, 80k": {"mean": 71.5},
}
literature = {
    "+PGD": {"Table 2": 69.9},
    "+EA+PGD, 80k": {"Table 2": 70.3},
    "+RA+PGD, 20k": {"Table 2": 70.7},
    "+SA+PGD, 80k": {"the mean of its 15 accuracies": 71.5533, "Tables 3 and 4": 71.6},
}
deviations = common.deviations(
    "80k and 40k stand for four times and twice the training examples of the scale, 20k for as many; SA's before "
    "labels are rectified",
    "of this table one value is recorded here; rows without one are chosen after what the table is about",
)
