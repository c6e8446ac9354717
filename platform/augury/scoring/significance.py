"""Whether a difference is real: the two-level test over seeds and sentences, sacreBLEU's tests, Holm's correction.

A system is known by a few seeds on a few hundred sentences, and both would come out differently next time. The plain
bootstrap that draws both again (seeds per system, sentences once for all) is wrong on both sides with few seeds:

- too narrow, since S drawn seeds vary (S - 1) / S as much as S new ones, and since percentiles do not know how
  uncertain a variance is that comes from three numbers;
- too wide, since it counts three times what a seed does to a sentence, that is, that another seed fails on other
  sentences; the mean contains it once (Owen, 2007, "The pigeonhole bootstrap").

So the parts of its variance are taken one by one, and the variance of a mean over seeds, or of the difference of two
means on the same sentences, is V + max(0, W - I):

V   the sample variance of the seeds' scores, divided by S, summed over the systems: the noise of training, and what
    seeds do to sentences. The draw of seeds needs no random numbers, for its variance is known.
W   the variance of the mean, or of the difference, over resampled sentences: what systems do to sentences, and again
    what seeds do to them.
I   what V and W have in common: the sample variance over seeds of how far a seed's resampled score lies from its score,
    averaged over the resampled test sets, divided by S, summed over the systems.

The interval is Student's. Its degrees of freedom are those of Welch's t-test over seeds times (V + max(0, W - I)) / V,
for the sentences are many and their variance is taken for known. Satterthwaite's formula has that ratio squared, and
makes intervals of three seeds too narrow (92 %) where seeds matter as much as sentences. For two systems with the same
true score on every sentence the test is Welch's, for systems whose seeds are all equal it is the bootstrap over
sentences. By simulation (`benchmarks/coverage.py`) intervals hold the true value in 93 to 97 % of cases, from three
seeds on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from augury.scoring.bootstrap import SEED, Resampled, Value, scores

LEVEL = 0.95
TRIALS = 10_000  # of approximate randomisation; sacreBLEU's
ROUNDING = 1e-9  # of scores up to 100

Over = Literal["seeds and sentences", "sentences"]
Method = Literal["two-level", "bootstrap", "randomisation"]


@dataclass(frozen=True)
class Interval:
    """A 95 % confidence interval, in the unit of the score."""

    low: float
    high: float

    def within(self, bounds: tuple[float, float]) -> Interval:
        """Return the interval cut to the range of a metric.

        Student's intervals know no range: those of two or three seeds near an end of it reach beyond. The true value
        lies in the range, so that the cut interval holds it as often.
        """
        least, greatest = bounds
        return Interval(min(max(self.low, least), greatest), max(min(self.high, greatest), least))


@dataclass(frozen=True)
class Difference:
    """A system against a baseline on the same sentences."""

    value: float
    """Mean of the system minus mean of the baseline; below 0 it is an improvement where a metric's least is best."""
    low: float
    high: float
    """The 95 % interval of the difference."""
    p_value: float
    """Two-sided."""
    over: Over
    """What would come out differently next time. `sentences`: with one seed each nothing is known of other seeds."""


def interval(system: Resampled) -> Interval:
    """Return the 95 % interval of a system's mean over seeds.

    Of one seed it is the percentile bootstrap over sentences (Koehn, 2004), of several that of both levels.
    """
    if system.seeds == 1:
        return _percentiles(system.samples[:, 0])
    error, freedom = _spread(system.samples.mean(1), [_noise(system, 1 / system.seeds)])
    return _student(system.value, error, freedom)


def compare(baseline: Resampled, system: Resampled) -> Difference:
    """Compare two systems by the two-level test, which takes the seeds of the two systems for independent.

    With one seed each it is the paired bootstrap over sentences, and says so: percentile interval, and the p-value of
    Riezler and Maxwell (2005), resampled differences shifted to mean 0, never below 1 / (samples + 1). Where one of the
    two has a single seed, its noise is taken to be that of the other.
    """
    assert baseline.samples.shape[0] == system.samples.shape[0], "systems have the same sentences in the same sample"
    value = system.value - baseline.value
    samples = system.samples.mean(1) - baseline.samples.mean(1)
    if baseline.seeds == system.seeds == 1:
        as_far = np.abs(samples - samples.mean()) >= abs(value)
        bounds = _percentiles(samples)
        return Difference(value, bounds.low, bounds.high, float((1 + as_far.sum()) / (1 + len(samples))), "sentences")
    several = [side for side in (baseline, system) if side.seeds > 1]
    shares = [1 / side.seeds for side in several]
    if len(several) == 1:
        shares[0] += 1.0
    error, freedom = _spread(samples, [_noise(side, share) for side, share in zip(several, shares, strict=True)])
    bounds = _student(value, error, freedom)
    p_value = 2 * float(stdtr(freedom, -abs(value) / max(error, ROUNDING)))
    return Difference(value, bounds.low, bounds.high, p_value, "seeds and sentences")


def decide(baseline: Resampled, system: Resampled, value: Value, method: Method) -> Difference:
    """Compare as `compare` does, or take the p-value of one of sacreBLEU's tests, which are for one seed each."""
    difference = compare(baseline, system)
    match method:
        case "bootstrap":
            return replace(difference, p_value=paired_bootstrap(baseline, system))
        case "randomisation":
            return replace(difference, p_value=approximate_randomisation(baseline, system, value))
    return difference


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values of a table corrected for their number (Holm, 1979), in the order given.

    What stays below 5 % keeps the probability of any false claim in the table at 5 %, whatever the tests' dependence.
    """
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda position: p_values[position])):
        largest = max(largest, min(1.0, p_values[index] * (len(p_values) - rank)))
        corrected[index] = largest
    return corrected


def paired_bootstrap(baseline: Resampled, system: Resampled) -> float:
    """Return the p-value that sacreBLEU's paired bootstrap prints for two systems of one seed, from the same draws.

    It centres the absolute differences, which for a clear difference looks one way only: about half of the p-value of
    `compare`, and false alarms up to twice as often as its level says.
    """
    assert baseline.seeds == system.seeds == 1, "sacreBLEU compares one set of hypotheses with one"
    far = np.abs(system.samples - baseline.samples)
    return float((1 + (far - far.mean() > abs(system.value - baseline.value)).sum()) / (1 + len(far)))


def approximate_randomisation(
    baseline: Resampled, system: Resampled, value: Value, *, trials: int = TRIALS, seed: int = SEED
) -> float:
    """Return the two-sided p-value of approximate randomisation (Riezler and Maxwell, 2005) as sacreBLEU computes it.

    Of two systems of one seed. Each trial swaps them in a random half of the sentences; the p-value is the share of
    trials in which they then differ by more than they do.
    """
    assert baseline.seeds == system.seeds == 1, "sacreBLEU compares one set of hypotheses with one"
    base, other = (side.statistics[0].astype(np.float64) for side in (baseline, system))
    both, gap = base + other, base - other
    kept = np.random.default_rng(seed).integers(2, size=(trials, len(base)), dtype=bool)
    first = other.sum(0) + np.concatenate([block @ gap for block in np.array_split(kept, max(1, kept.size // 2**21))])
    differences = scores(first, value)[:, 0] - scores(both.sum(0) - first, value)[:, 0]
    return float((1 + (np.abs(differences) > abs(system.value - baseline.value)).sum()) / (1 + trials))


def clusters(sets: Sequence[tuple[Sequence[str], NDArray[Any]]]) -> NDArray[Any]:
    """Return the statistics of several test sets side by side, a row for every example: what is resampled together.

    `sets` has ids of examples and statistics (rows, counts) of every set, such as one example in 15 languages: its
    translations are not independent, and count as one draw. An example that a set lacks adds nothing to it, one that it
    has repeatedly is added up. The result, of shape (examples, sets x counts), goes with `mean_over` as its value.
    """
    rows = {example: row for row, example in enumerate(dict.fromkeys(name for ids, _ in sets for name in ids))}
    by_set = []
    for ids, statistics in sets:
        summed = np.zeros((len(rows), statistics.shape[1]), dtype=statistics.dtype)
        np.add.at(summed, [rows[name] for name in ids], statistics)
        by_set.append(summed)
    return np.hstack(by_set)


def mean_over(value: Value, sets: int) -> Value:
    """Return the mean of a score over test sets whose statistics lie side by side.

    Of a resampled set too small to be drawn from every time there may be nothing: it then has no part in the mean.
    """

    def mean(sums: Sequence[float]) -> float:
        counts = len(sums) // sets
        parts = [sums[first : first + counts] for first in range(0, len(sums), counts)]
        there = [part for part in parts if any(part)] or parts
        return sum(map(value, there)) / len(there)

    return mean


class _Noise(NamedTuple):
    """What the seeds of a system add to a variance."""

    variance: float
    """The system's share of V."""
    interaction: float
    """The system's share of I."""
    freedom: int


def _noise(system: Resampled, share: float) -> _Noise:
    """`share`: of the variance of one seed; 1 / seeds for the mean."""
    interaction = (system.samples - system.scores).var(axis=1, ddof=1).mean()
    return _Noise(share * float(system.scores.var(ddof=1)), share * float(interaction), system.seeds - 1)


def _spread(samples: NDArray[np.float64], noises: Sequence[_Noise]) -> tuple[float, float]:
    """The standard error of what is a mean over seeds in every sample, and its degrees of freedom."""
    seeds = sum(noise.variance for noise in noises)
    variance = seeds + max(0.0, float(samples.var()) - sum(noise.interaction for noise in noises))
    uncertain = sum(noise.variance**2 / noise.freedom for noise in noises)
    return variance**0.5, variance * seeds / uncertain if uncertain else np.inf


def _student(value: float, error: float, freedom: float) -> Interval:
    half = error * float(stdtrit(freedom, (1 + LEVEL) / 2))
    return Interval(value - half, value + half)


def _percentiles(samples: NDArray[np.float64]) -> Interval:
    low, high = np.quantile(samples, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high))
