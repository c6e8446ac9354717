"""Do simultaneous bands of 15 test sets cover all true differences in 95 % of experiments?

Experiments are simulated: two systems that do not differ, on the same sentences in 15 languages. A
sentence is as hard in all languages, up to noise; systems differ by sentence; a seed moves a system
in all languages, with a correlation. A line has the number of seeds, the standard deviation of seed
noise relative to the error over sentences, the share of experiments whose 15 bands all cover zero,
that of 15 pointwise intervals, and the mean half width of both.

    python -m benchmarks.bands [--experiments 1000] [--seeds 1 2 3 5 10] [--json]
"""

from __future__ import annotations

import numpy as np

from augury.scoring.bootstrap import Resampled
from augury.scoring.significance import compare
from augury.scoring.simultaneous import simultaneous_bands
from benchmarks import frame

SETS, SENTENCES, SAMPLES = 15, 200, 300
SHARED = 0.6
"""Correlation between languages of all effects."""


def simulate(
    random: np.random.Generator, seeds: int, seed_noise: float
) -> tuple[list[Resampled], list[Resampled]]:
    """Return two systems without a true difference, by test set.

    Seed noise in standard errors over sentences.
    """
    drawn = (
        random.integers(SENTENCES, size=(SAMPLES, SENTENCES))
        + SENTENCES * np.arange(SAMPLES)[:, None]
    )
    counts = (
        np.bincount(drawn.ravel(), minlength=SAMPLES * SENTENCES).reshape(SAMPLES, SENTENCES)
        / SENTENCES
    )
    difficulty = _correlated(random, SENTENCES)
    first, second = (_system(random, counts, difficulty, seeds, seed_noise) for _ in range(2))
    return first, second


def _system(
    random: np.random.Generator,
    counts: np.ndarray,
    difficulty: np.ndarray,
    seeds: int,
    seed_noise: float,
) -> list[Resampled]:
    own = _correlated(random, SENTENCES)
    error = 1 / SENTENCES**0.5
    table = np.stack(
        [
            difficulty
            + own
            + seed_noise * error * _correlated(random, 1)
            + random.standard_normal((SENTENCES, SETS))
            for _ in range(seeds)
        ]
    )  # (seeds, sentences, sets)
    samples = np.einsum("bn,snl->bsl", counts, table, optimize=True)
    return [
        Resampled(table[:, :, place].mean(1), samples[:, :, place], ()) for place in range(SETS)
    ]


def _correlated(random: np.random.Generator, rows: int) -> np.ndarray:
    shared, own = random.standard_normal((rows, 1)), random.standard_normal((rows, SETS))
    return SHARED**0.5 * shared + (1 - SHARED) ** 0.5 * own


def coverage(random: np.random.Generator, seeds: int, noise: float, experiments: int) -> frame.Row:
    """Return the shares of experiments that are covered, and the mean half widths."""
    all_bands, all_intervals, widths = 0, 0, np.zeros(2)
    for _ in range(experiments):
        baseline, system = simulate(random, seeds, noise)
        bands = simultaneous_bands(baseline, system, draws=4000)
        single = [compare(first, second) for first, second in zip(baseline, system, strict=True)]
        all_bands += all(band.low <= 0 <= band.high for band in bands)
        all_intervals += all(interval.low <= 0 <= interval.high for interval in single)
        widths[0] += np.mean([(band.high - band.low) / 2 for band in bands])
        widths[1] += np.mean([(interval.high - interval.low) / 2 for interval in single])
    band, interval = (widths / experiments).tolist()
    return {
        "seeds": seeds,
        "noise": noise,
        "bands": all_bands / experiments,
        "intervals": all_intervals / experiments,
        "half width of bands": band,
        "of intervals": interval,
    }


def main() -> None:
    parser = frame.parser(__doc__)
    parser.add_argument("--experiments", type=int, default=1000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 5, 10])
    arguments = parser.parse_args()
    random = np.random.default_rng(1)
    rows = [
        coverage(random, seeds, noise, arguments.experiments)
        for seeds in arguments.seeds
        for noise in ((0.0, 1.0, 3.0) if seeds > 1 else (0.0,))
    ]
    frame.report(
        arguments, {"experiments": arguments.experiments}, rows, over="seeds", lines="noise"
    )


if __name__ == "__main__":
    main()
