"""Differences on several test sets together, and their slope over distances in word order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from augury.core.errors import UserError
from augury.experiments.record import RunRecord
from augury.reporting.bands import Gains, band_table, gains
from augury.reporting.results import Estimate, SystemResult
from augury.scoring.bootstrap import resample
from augury.text.alignment.word_order import WordOrder

TESTS = ("en", "fr", "de", "tr")
DISTANCES = {"fr": WordOrder(97, 3), "de": WordOrder(94, 6), "tr": WordOrder(73, 27)}


def system(
    name: str, shift: Mapping[str, float], seeds: Sequence[int] = (1, 2), rows: int = 100
) -> SystemResult:
    """A system whose scores on a set are those of random sentences, shifted."""
    random = np.random.default_rng(1)
    table = random.standard_normal((rows, len(TESTS)))
    resampled = {}
    for place, test in enumerate(TESTS):
        statistics = [
            np.stack([table[:, place] + shift.get(test, 0.0) + 0.01 * seed, np.ones(rows)], 1)
            for seed in seeds
        ]
        resampled[test] = {
            "accuracy": resample(statistics, lambda sums: sums[0] / sums[1], samples=200)
        }
    estimates = {
        test: {"accuracy": Estimate(0.0, 0.0, 0.0, "accuracy", rows, tuple(seeds))}
        for test in TESTS
    }
    return SystemResult(
        name, name, {}, RunRecord(name, name, 1, "nli"), estimates, None, (), resampled
    )


def found(shift: Mapping[str, float]) -> Gains:
    (gain,) = gains([system("plain", {}), system("+A", shift)], TESTS, DISTANCES)
    return gain


def test_a_gain_that_grows_with_the_distance_has_its_slope() -> None:
    gain = found({"en": 9.0, **{test: 2 + 5 * order.distance for test, order in DISTANCES.items()}})
    assert gain.slope is not None and gain.slope.value == pytest.approx(0.5)
    assert gain.bands["tr"].value == pytest.approx(2 + 5 * 0.27) and gain.bands[
        "en"
    ].value == pytest.approx(9.0)


def test_an_equal_gain_has_no_slope() -> None:
    gain = found(dict.fromkeys(TESTS, 3.0))
    assert gain.slope is not None and gain.slope.value == pytest.approx(0.0, abs=1e-9)
    assert all(band.value == pytest.approx(3.0) for band in gain.bands.values())


def test_the_table_has_the_nearest_word_order_first() -> None:
    table = band_table([found({"de": 1.0})], "plain", DISTANCES)
    assert [row.cells[0].text for row in table.rows] == ["en", "fr", "de", "tr"]
    assert [row.cells[1].text for row in table.rows][1:] == ["0.030", "0.060", "0.270"]


def test_sets_of_other_rows_have_no_bands_together() -> None:
    first, second = system("plain", {}), system("+A", {})
    shorter = {**first.tests, "tr": {"accuracy": Estimate(0.0, 0.0, 0.0, "accuracy", 50, (1, 2))}}
    with pytest.raises(
        UserError, match="whose rows are the same examples, such as XNLI's: en: 100, .*tr: 50"
    ):
        gains(
            [
                SystemResult(
                    "plain", "plain", {}, first.record, shorter, None, (), first.resampled
                ),
                second,
            ],
            TESTS,
        )
