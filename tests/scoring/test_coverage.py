"""How often intervals hold the truth, nothing is called a difference, and the smallest detectable
difference is found, in hundreds of simulated tables of five systems without a difference."""

from __future__ import annotations

import numpy as np
import pytest

from augury.core.rng import generator
from augury.scoring.bootstrap import Resampled
from augury.scoring.power import Components
from augury.scoring.seed_variance import pool, sample_variance
from augury.scoring.significance import compare, holm, interval
from tests.scoring.simulated import of_sentences, systems

TABLES, SENTENCES = 400, 100
UNIT = 0.5 / SENTENCES**0.5
"""The standard deviation between seeds that the sentences alone cause."""


@pytest.mark.parametrize("seeds", [2, 3])
def test_equal_scores_of_all_seeds_are_no_evidence(seeds: int) -> None:
    """One more of 500 right; without sentences as the floor of the variance, half of the draws
    would have p < .001."""
    for draw in range(60):
        random = generator("tied", seeds, draw)
        sides = [np.tile(np.arange(500) < right, (seeds, 1)) for right in (350, 351)]
        answers = [random.permuted(side, axis=1).astype(np.float64) for side in sides]
        assert compare(*(of_sentences(table, 100) for table in answers)).p_value >= 0.001


@pytest.mark.slow
@pytest.mark.parametrize(("seeds", "noise"), [(2, 3.0), (3, 1.0), (3, 3.0), (5, 1.0)])
def test_intervals_families_and_power_are_what_they_say(seeds: int, noise: float) -> None:
    """95 % of 400 are sure to 1.1 points. Where two or three seeds differ by little more than
    sentences explain, intervals are wide."""
    known = Components((noise * UNIT) ** 2, 0.5**2, 2 * 0.3**2)
    smallest = known.smallest_difference(seeds, SENTENCES, 4)
    held: dict[str, list[bool]] = {name: [] for name in ("difference", "system", "family", "found")}
    for table in range(TABLES):
        drawn = systems(
            "coverage", seeds, table, seeds=[seeds] * 5, sentences=SENTENCES, noise=noise * UNIT
        )
        baseline, second = drawn[:2]
        pooled = pool([sample_variance(system) for system in drawn])
        difference, alone = compare(baseline, second, pooled), interval(baseline, pooled)
        held["difference"].append(difference.low <= 0 <= difference.high)
        held["system"].append(alone.low <= 0 <= alone.high)
        p_values = [compare(baseline, system, pooled).p_value for system in drawn[1:]]
        held["family"].append(min(holm(p_values)) < 0.05)
        better = Resampled(second.scores + smallest, second.samples + smallest, ())
        held["found"].append(4 * compare(baseline, better, pooled).p_value < 0.05)
    shares = {name: np.mean(covered) for name, covered in held.items()}
    assert all(0.92 < shares[name] <= 1.0 for name in ("difference", "system"))
    assert shares["family"] <= 0.07 and 0.7 < shares["found"] < 0.9
