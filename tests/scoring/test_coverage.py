"""The simulation of `benchmarks/coverage.py`, smaller: hundreds of simulated comparisons instead of thousands."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.coverage import Setting, cover, families

SETTINGS = [
    Setting("mean", "same", 3, 200, 0.0),
    Setting("mean", "different", 3, 200, 1.0),
    Setting("mean", "same", 3, 200, 3.0),
    Setting("ratio", "different", 5, 200, 0.5),
    Setting("mean", "different", 10, 200, 3.0),
]


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say():
    """From 3 seeds to 10, without noise of training and with little else; 95 % of 250 are sure to 1.4 points."""
    outcomes = [cover(setting, 250) for setting in SETTINGS]
    for shares in ([one.difference for one in outcomes], [one.single for one in outcomes]):
        assert 0.93 <= np.mean(shares) <= 0.97
        assert min(shares) >= 0.91 and max(shares) <= 0.99
    # What the plain bootstraps make of the first and the third: too wide, and too narrow.
    assert outcomes[0].naive > 0.985
    assert outcomes[2].naive < 0.92
    assert outcomes[2].sentences_alone < 0.6


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 3.0])
def test_holm_keeps_false_claims_rare_in_a_table_of_ten(noise):
    family = families(Setting("mean", "same", 3, 200, noise), 150)
    assert family.corrected <= 0.05 < 0.12 < family.uncorrected
