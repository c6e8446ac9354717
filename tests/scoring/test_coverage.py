"""The simulation of `benchmarks/coverage.py`, smaller: hundreds of simulated comparisons instead
of thousands."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.coverage import METHODS, TOGETHER, Setting, run, summary, tied_seeds

NOISY = [Setting("mean", "same", 3, 3.0, 0.4), Setting("ratio", "different", 2, 3.0, 0.0)]
QUIET = [Setting("accuracy", "same", 2, 0.0, 0.0), Setting("mean", "different", 2, 0.5, 0.0)]


@pytest.mark.parametrize("seeds", [2, 3])
def test_equal_scores_of_all_seeds_are_no_evidence(seeds):
    """One more of 500 right; without sentences as the floor of the variance, half of the draws
    would have p < .001."""
    shares = tied_seeds(seeds, draws=60, samples=100)
    assert shares.two_level == shares.moderated == 0.0


def test_the_true_score_of_an_accuracy_and_its_noise_are_those_of_the_simulation():
    """Noise 1 doubles the variance that sentences alone cause between seeds."""
    variances = {}
    for noise in (0.0, 1.0):
        random, setting = (
            np.random.default_rng(1),
            Setting("accuracy", "same", 400, noise, 0.0, 100),
        )
        quality = (
            0.5 + 0.8 * random.standard_normal(100) + 0.55 * random.standard_normal((400, 100))
        )
        right = quality + setting.deviation * random.standard_normal((400, 1)) > 0
        variances[noise] = right.mean(1).var(ddof=1)
        fresh = random.standard_normal((2, 10**5))
        simulated = 0.5 + np.hypot(np.hypot(0.8, 0.55), setting.deviation) * fresh > 0
        assert setting.truth(0.0, setting.deviation) == pytest.approx(
            100 * simulated.mean(), abs=0.4
        )
    assert variances[1.0] / variances[0.0] == pytest.approx(2, rel=0.25)


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say():
    """95 % of 400 are sure to 1.1 points, and two settings together to 0.8."""
    outcomes = [summary(run(setting, 400, 150)) for setting in NOISY]
    for name in ("coverage", "single_coverage"):
        shares = np.array([outcome[name] for outcome in outcomes])
        assert shares.min() > 0.92 and shares.max() < 0.99
        assert shares.mean(0).min() > 0.93 and shares.mean(0).max() < 0.98
    of_two, *of_more = outcomes[1]["width"][len(METHODS) - len(TOGETHER) :]
    assert of_two < 1 and max(of_more) < 0.75  # of two seeds, in widths of the two-level test


@pytest.mark.slow
def test_two_seeds_without_noise_make_no_false_claims():
    for setting in QUIET:
        outcome = summary(run(setting, 200, 150))
        assert min(outcome["coverage"]) > 0.95
        assert max(outcome["significant"]["0.001"]) <= 0.005


@pytest.mark.slow
def test_blocks_families_and_power_are_what_they_say():
    """Three seeds with as much noise as sentences cause; 400 experiments, 100 tables."""
    outcome = summary(run(Setting("mean", "same", 3, 1.0, 0.0), 400, 150))
    paired, unpaired = outcome["blocks"]
    assert min(paired) > 0.93 and min(unpaired) > 0.97
    assert max(outcome["families"]) <= 0.1
    assert min(outcome["found"]) > 0.73 and max(outcome["found"]) < 0.88
