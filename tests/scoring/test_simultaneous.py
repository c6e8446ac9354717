"""Bands of several test sets: as a single interval for one, as Šidák's for unrelated ones, never
narrower."""

from __future__ import annotations

import numpy as np
import pytest

from augury.scoring.bootstrap import Resampled, resample
from augury.scoring.significance import compare
from augury.scoring.simultaneous import Band, simultaneous_bands

SENTENCES = 200


def resampled(table: np.ndarray) -> list[Resampled]:
    """Systems by set from scores (seeds, sentences, sets) of sentences, whose mean is the score."""
    ones = np.ones(table.shape[1])
    return [
        resample(
            [np.stack([of_seed[:, place], ones], 1) for of_seed in table],
            lambda sums: sums[0] / sums[1],
        )
        for place in range(table.shape[2])
    ]


def pair(
    seeds: int, sets: int, shared: float, effect: float = 0.0
) -> tuple[list[Resampled], list[Resampled]]:
    random = np.random.default_rng(7)

    def system(shift: float) -> np.ndarray:
        common, own = (
            random.standard_normal((seeds, SENTENCES, 1)),
            random.standard_normal((seeds, SENTENCES, sets)),
        )
        return shift + shared**0.5 * common + (1 - shared) ** 0.5 * own

    return resampled(system(0.0)), resampled(system(effect))


def half(band: Band) -> float:
    return (band.high - band.low) / 2


def test_the_band_of_one_set_is_its_interval() -> None:
    baseline, system = pair(3, 1, 0.0, effect=0.2)
    (band,), pointwise = simultaneous_bands(baseline, system), compare(baseline[0], system[0])
    assert band.value == pytest.approx(pointwise.value)
    assert half(band) == pytest.approx((pointwise.high - pointwise.low) / 2, rel=0.1)
    assert band.p_value == pytest.approx(pointwise.p_value, abs=0.02)


def test_one_seed_and_unrelated_sets_give_sidak() -> None:
    from scipy.stats import norm

    baseline, system = pair(1, 10, 0.0)
    bands = simultaneous_bands(baseline, system)
    errors = [
        float((b.samples - a.samples).std(ddof=1)) for a, b in zip(baseline, system, strict=True)
    ]
    sidak = norm.ppf(1 - (1 - 0.95 ** (1 / 10)) / 2)
    ratios = [half(band) / (error * sidak) for band, error in zip(bands, errors, strict=True)]
    assert ratios == pytest.approx([1.0] * 10, abs=0.03)


def test_equal_sets_are_as_one() -> None:
    baseline, system = pair(1, 6, 1.0, effect=0.1)
    bands, (alone,) = (
        simultaneous_bands(baseline, system),
        simultaneous_bands(baseline[:1], system[:1]),
    )
    assert [half(band) for band in bands] == pytest.approx([half(alone)] * 6, rel=0.03)
    assert bands[0].p_value == pytest.approx(alone.p_value, abs=0.02)


@pytest.mark.parametrize("seeds", [1, 2, 5])
def test_more_sets_make_wider_bands_and_larger_p_values(seeds: int) -> None:
    baseline, system = pair(seeds, 12, 0.5, effect=0.25)
    few, many = simultaneous_bands(baseline[:3], system[:3]), simultaneous_bands(baseline, system)
    assert all(half(first) < half(second) for first, second in zip(few, many, strict=False))
    assert all(first.p_value <= second.p_value for first, second in zip(few, many, strict=False))


def test_equal_seeds_leave_the_error_over_sentences() -> None:
    random = np.random.default_rng(3)
    table = random.standard_normal((1, SENTENCES, 4)).repeat(2, axis=0)
    other = random.standard_normal((1, SENTENCES, 4)).repeat(2, axis=0)
    for band in simultaneous_bands(resampled(table), resampled(other)):
        assert half(band) > 1.96 * (2 / SENTENCES) ** 0.5 and 0 < band.p_value <= 1


def test_a_band_excludes_zero_where_its_p_value_is_below_five_percent() -> None:
    baseline, system = pair(3, 8, 0.4, effect=0.3)
    bands = simultaneous_bands(baseline, system)
    assert any(band.excludes_zero for band in bands)
    assert [band.excludes_zero for band in bands] == [band.p_value < 0.05 for band in bands]
