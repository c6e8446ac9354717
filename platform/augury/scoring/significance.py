"""Significance of differences over seeds and sentences, with Holm's correction.

A system is observed with a few training seeds on a sample of sentences, and both are random. A
bootstrap that resamples both (seeds for each system, sentences jointly) is biased for few seeds:

- too narrow, because the variance of S resampled seeds is (S - 1) / S times that of S new ones, and
  because percentile intervals ignore the uncertainty of a variance estimated from a few seeds;
- too wide, because it counts the seed-sentence interaction three times, although the variance of
  the mean contains it once (Owen, 2007, "The pigeonhole bootstrap").

The components of the variance are therefore estimated separately. The variance of a mean over S
seeds, or of the difference of two such means on the same sentences, is V + max(0, W - I):

V   the variance between seeds, divided by S, summed over systems: training noise, and the
    interaction of seeds and sentences. It is the sample variance, shrunk to that of all systems of
    the comparison, and at least I (`augury.scoring.seed_variance`): with few seeds, equal scores
    are no proof that seeds do not matter.
W   the variance of the mean, or of the difference, over bootstrap samples of sentences: the
    interaction of systems and sentences, and again that of seeds and sentences.
I   the interaction of seeds and sentences, which V and W both contain: the sample variance over
    seeds of the deviation of a seed's score on a bootstrap sample from its score, averaged over
    samples, divided by S, summed over systems.

Intervals are Student's. Degrees of freedom are those of Welch's t-test over seeds, at most those of
all systems together, times (V + max(0, W - I)) / V, since the variance over many sentences is taken
as known. Satterthwaite's formula would square the ratio, and intervals of three seeds would be too
narrow (coverage 92 %) if seeds contribute as much variance as sentences.

Where all labels are right, or all wrong, every bootstrap sample scores the same, and so does every
difference of two systems that agree on each example. That is no proof that others would: with no
exception among n, the share of exceptions is below 1 - 0.05^(1/n), about 3 / n, in 95 % of cases
(the rule of three; Hanley and Lippman-Hand, 1983, "If nothing goes wrong, is everything all
right?"). The interval is then as wide as such a share of exceptions makes it, where it weighs most:
for macro F1 among the examples of the rarest label, for a mean over test sets in the smallest.

`tests/scoring/test_coverage.py` measures coverage, false positives and power by simulation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from augury.scoring.bootstrap import Resampled, Value
from augury.scoring.seed_variance import UNKNOWN, SeedVariance, moderated, pool, sample_variance

LEVEL = 0.95
LOWEST, HIGHEST = 0.0, 100.0  # scores of labels
ROUNDING = 1e-9  # rounding error of scores up to 100
LEAST_OF_TWO = 0.01
"""Where variances differ between systems, two seeds give p < 0.001 in 0.4 % of experiments without
a difference: smaller values are not told apart."""

Over = Literal["seeds and sentences", "sentences"]


class Interval(NamedTuple):
    """A 95 % confidence interval, in the unit of the score."""

    low: float
    high: float

    def within(self, bounds: tuple[float, float]) -> Interval:
        """Return the interval clipped to the range of a metric.

        Student's intervals of a few seeds can exceed the range. Clipping does not change coverage,
        since the true value is in the range.
        """
        lowest, highest = bounds
        return Interval(min(max(self.low, lowest), highest), max(min(self.high, highest), lowest))


@dataclass(frozen=True)
class Difference:
    """The difference between a system and a baseline on the same sentences."""

    value: float
    """Mean of the system minus mean of the baseline.

    Negative is an improvement if lower is better.
    """
    low: float
    high: float
    """Bounds of the 95 % interval of the difference."""
    p_value: float
    """Two-sided p-value."""
    over: Over
    """The source of randomness: `sentences` if both systems have a single seed."""
    seeds: int = 0
    """Of the system that has fewer; 0 where seeds are no source of randomness."""

    @property
    def least_p(self) -> float:
        """The smallest p-value that can be relied on."""
        return LEAST_OF_TWO if 0 < self.seeds <= 2 else 0.0

    def within(self, bounds: tuple[float, float]) -> Difference:
        """Return the difference with its interval clipped to what the range of a metric allows, as
        that of a score is."""
        widest = bounds[1] - bounds[0]
        low, high = Interval(self.low, self.high).within((-widest, widest))
        return replace(self, low=low, high=high)


def interval(system: Resampled, pooled: SeedVariance = UNKNOWN) -> Interval:
    """Return the 95 % interval of a system's mean over seeds.

    For one seed or equal outputs of all, this is the percentile bootstrap over sentences (Koehn,
    2004), for several the two-level interval. `pooled` is the variance between seeds of the systems
    that it is shown with.
    """
    own, samples = moderated(sample_variance(system), pooled), system.samples.mean(1)
    # Without a variance between seeds, sentences are the only randomness, and the bootstrap needs
    # no assumption on their distribution.
    if system.seeds == 1 or _is_zero(own):
        if _shows_no_exception(system, samples):
            return _rule_of_three(system.value, system.examples, LOWEST, HIGHEST)
        return _percentiles(samples)
    mean = _of_mean(own, system.seeds)
    error, dof = _standard_error(samples, [mean], pooled.dof or own.dof)
    return _student(system.value, error, dof)


def compare(
    baseline: Resampled, system: Resampled, pooled: SeedVariance | None = None
) -> Difference:
    """Compare two systems with independent seeds by the two-level test.

    `pooled` is the variance between seeds of all systems of the comparison; by default that of
    these two, and UNKNOWN does not shrink variances. With one seed each, or if the outputs of all
    seeds are equal on every sentence, this is the paired bootstrap over sentences: the percentile
    interval, and the p-value of Riezler and Maxwell (2005) from differences shifted to mean 0, at
    least 1 / (samples + 1). A single seed beside several has their variance.
    """
    assert baseline.samples.shape[0] == system.samples.shape[0], (
        "systems must have the same bootstrap samples"
    )
    samples = system.samples.mean(1) - baseline.samples.mean(1)
    sampled = [sample_variance(baseline), sample_variance(system)]
    shared = pooled if pooled and pooled.dof else pool(sampled)
    single = baseline.seeds == system.seeds == 1
    if single or _is_zero(shared):
        over: Over = "sentences" if single else "seeds and sentences"
        return _over_sentences(system, baseline, samples, over)
    # A single seed has no variance of its own: it is taken to vary as the others do.
    prior = shared if pooled is None else pooled
    means = [
        _of_mean(moderated(own, prior if own.dof else shared), side.seeds)
        for own, side in zip(sampled, (baseline, system), strict=True)
    ]
    error, dof = _standard_error(samples, means, shared.dof)
    seeds = min(baseline.seeds, system.seeds)
    value = system.value - baseline.value
    ends = _student(value, error, dof)
    p_value = 2 * float(special.stdtr(dof, -abs(value) / max(error, ROUNDING)))
    return Difference(value, *ends, p_value, "seeds and sentences", seeds)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for multiple tests (Holm, 1979), in the same order.

    Rejecting below 5 % bounds the family-wise error rate by 5 %, for any dependence among the
    tests.
    """
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        # Never below that of a smaller p-value, before which this test could not be rejected.
        largest = max(largest, min(1.0, p_values[index] * (len(p_values) - rank)))
        corrected[index] = largest
    return corrected


def clusters(sets: Sequence[tuple[Sequence[str], npt.NDArray[Any]]]) -> npt.NDArray[Any]:
    """Return the statistics of several test sets by example, (examples, sets x counts).

    A cluster bootstrap resamples them. `sets` has the example ids and statistics (rows, counts) of
    each test set. Versions of an example in different sets, such as its translations into 15
    languages, are dependent and must be resampled together. The row of an example is zero for sets
    that lack it, and summed if a set repeats it. Sets with fewer counts than others, such as macro
    F1 of fewer labels, get zeros. Use with `mean_over`.
    """
    rows: dict[str, int] = {}
    for ids, _ in sets:
        for name in ids:
            rows.setdefault(name, len(rows))
    by_set, width = [], max(statistics.shape[1] for _, statistics in sets)
    for ids, statistics in sets:
        summed = np.zeros((len(rows), width), dtype=statistics.dtype)
        np.add.at(summed[:, : statistics.shape[1]], [rows[name] for name in ids], statistics)
        by_set.append(summed)
    return np.hstack(by_set)


def mean_over(value: Value, sets: int) -> Value:
    """Return the function from sums of `clusters` to the mean score over test sets.

    Test sets without any example in a bootstrap sample, which happens to small ones, are left out
    of the mean.
    """

    def mean(sums: Sequence[float]) -> float:
        counts = len(sums) // sets
        parts = [sums[first : first + counts] for first in range(0, len(sums), counts)]
        present = [part for part in parts if any(part)] or parts
        return sum(map(value, present)) / len(present)

    return mean


def _of_mean(variance: SeedVariance, seeds: int) -> SeedVariance:
    """Return the variance of a mean over seeds."""
    weight = 1 / seeds
    return SeedVariance(weight * variance.total, weight * variance.interaction, variance.dof)


def _standard_error(
    samples: npt.NDArray[np.float64], means: Sequence[SeedVariance], most: float
) -> tuple[float, float]:
    """Return the standard error of a mean, or of a difference of two, and its degrees of freedom,
    from its bootstrap samples.

    `most` are the degrees of freedom of all systems together, which the variance between seeds
    cannot exceed.
    """
    v = sum(mean.total for mean in means)
    interaction = sum(mean.interaction for mean in means)
    # Samples of sentences contain the interaction with seeds, which v has already.
    variance = v + max(0.0, float(samples.var()) - interaction)
    # Welch's formula, of seeds alone: the variance over sentences is as good as known, so that it
    # adds to the error without adding to its uncertainty.
    welch = sum(mean.total**2 / mean.dof for mean in means)
    return variance**0.5, min(v**2 / welch, most) * variance / v


def _is_zero(variance: SeedVariance) -> bool:
    """Return whether seeds differ by rounding alone, or there is only one."""
    return max(variance.total, variance.interaction) <= ROUNDING**2


def _over_sentences(
    system: Resampled, baseline: Resampled, samples: npt.NDArray[np.float64], over: Over
) -> Difference:
    value = system.value - baseline.value
    # Shifted to mean 0, the null hypothesis. The observed difference counts as a sample itself,
    # so that p is never 0.
    extreme = np.abs(samples - samples.mean()) >= abs(value) - ROUNDING
    ends = _percentiles(samples)
    if _shows_no_exception(system, samples):
        ends = _rule_of_three(value, system.examples, -HIGHEST, HIGHEST)
    return Difference(value, *ends, float((1 + extreme.sum()) / (1 + len(samples))), over)


def _student(value: float, error: float, dof: float) -> Interval:
    half = error * float(special.stdtrit(dof, (1 + LEVEL) / 2))
    return Interval(value - half, value + half)


def _shows_no_exception(system: Resampled, samples: npt.NDArray[np.float64]) -> bool:
    """Return whether a score of labels, or a difference of two, is the same in all samples."""
    return bool(system.examples) and float(np.ptp(samples)) <= ROUNDING


def _rule_of_three(value: float, examples: int, lowest: float, highest: float) -> Interval:
    """Return the interval of a score of examples that all have the same value."""
    share = 1 - (1 - LEVEL) ** (1 / examples)
    return Interval(value + share * (lowest - value), value + share * (highest - value))


def _percentiles(samples: npt.NDArray[np.float64]) -> Interval:
    low, high = np.quantile(samples, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(low), float(high))
