"""The simulation of `benchmarks/coverage.py`, smaller: hundreds of simulated comparisons instead
of thousands."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import coverage
from benchmarks.coverage import Setting, run, tied_seeds


@pytest.mark.parametrize("seeds", [2, 3])
def test_equal_scores_of_all_seeds_are_no_evidence(seeds: int) -> None:
    """One more of 500 right; without sentences as the floor of the variance, half of the draws
    would have p < .001."""
    assert tied_seeds(seeds, draws=60, samples=100) == 0.0


def test_the_true_score_of_an_accuracy_and_its_noise_are_those_of_the_simulation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Noise 1 doubles the variance that sentences alone cause between seeds."""
    monkeypatch.setattr(coverage, "SENTENCES", 100)
    variances = {}
    for noise in (0.0, 1.0):
        random, setting = np.random.default_rng(1), Setting("accuracy", "same", 400, noise, 0.0)
        quality = (
            0.5 + 0.8 * random.standard_normal(100) + 0.55 * random.standard_normal((400, 100))
        )
        right = quality + setting.deviation * random.standard_normal((400, 1)) > 0
        variances[noise] = right.mean(1).var(ddof=1)
        fresh = random.standard_normal((2, 10**5))
        simulated = 0.5 + np.hypot(np.hypot(0.8, 0.55), setting.deviation) * fresh > 0
        truth = setting.truth(0.0, setting.deviation)
        assert truth == pytest.approx(100 * simulated.mean(), abs=0.4)
    assert variances[1.0] / variances[0.0] == pytest.approx(2, rel=0.25)


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """95 % of 400 are sure to 1.1 points, and two settings together to 0.8."""
    noisy = [Setting("mean", "same", 3, 3.0, 0.4), Setting("ratio", "different", 2, 3.0, 0.0)]
    outcomes = [run(setting, 400, 150) for setting in noisy]
    for name in ("difference", "system"):
        shares = [outcome[name] for outcome in outcomes]
        assert min(shares) > 0.92 and max(shares) < 0.99
        assert 0.93 < np.mean(shares) < 0.98


@pytest.mark.slow
def test_two_seeds_without_noise_make_no_false_claims() -> None:
    equal = run(Setting("accuracy", "same", 2, 0.0, 0.0), 200, 150)
    assert equal["difference"] > 0.95 and equal["p < 0.001"] <= 0.005
    assert run(Setting("mean", "different", 2, 0.5, 0.0), 200, 150)["difference"] > 0.95


@pytest.mark.slow
def test_blocks_families_and_power_are_what_they_say() -> None:
    """Three seeds with as much noise as sentences cause; 400 experiments."""
    outcome = run(Setting("mean", "same", 3, 1.0, 0.0), 400, 150)
    assert outcome["blocks"] > 0.93 and outcome["family"] <= 0.07
    assert 0.73 < outcome["found"] < 0.88
