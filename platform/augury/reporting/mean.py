"""The plain mean over test sets, such as the languages of XNLI, as one more test set."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from augury.errors import UserError
from augury.reporting.results import Estimate, SystemResult
from augury.scoring.bootstrap import Resampled, resample
from augury.scoring.scores import named
from augury.scoring.significance import clusters, interval, mean_over

MEAN = "mean"


def with_mean(systems: Sequence[SystemResult], tests: Sequence[str]) -> list[SystemResult]:
    """The systems with the mean of every metric over `tests` as a further test set, `mean`.

    Examples in the same place of equally long sets are drawn together, for translations of one example are not
    independent; where they are different examples that changes nothing. A system without one of the sets has no mean.
    UserError where a test set has this name already.
    """
    if MEAN in tests:
        raise UserError(f"a test set is called '{MEAN}', as is the mean over test sets: give it another name")
    return [_with_mean(system, tests) if all(test in system.tests for test in tests) else system for system in systems]


def title_of(tests: Sequence[str]) -> str:
    """What the mean over test sets is called in words."""
    return f"the mean of {len(tests)} test sets"


def _with_mean(system: SystemResult, tests: Sequence[str]) -> SystemResult:
    metrics = [metric for metric in system.tests[tests[0]] if all(metric in system.tests[test] for test in tests)]
    drawn = {metric: found for metric in metrics if (found := _drawn(system, tests, metric)) is not None}
    means = {metric: _estimate(system, tests, metric, drawn.get(metric)) for metric in metrics}
    return replace(system, tests={**system.tests, MEAN: means}, resampled={**system.resampled, MEAN: drawn})


def _drawn(system: SystemResult, tests: Sequence[str], metric: str) -> Resampled | None:
    """The means on resampled sets; None where the counts of any set's examples are not known any more."""
    sets = [system.resampled.get(test, {}).get(metric) for test in tests]
    known = [one for one in sets if one is not None]
    if len(known) < len(sets):
        return None
    lengths = {len(one.statistics[0]) for one in known}
    if len(lengths) > 1:
        scores, samples = (np.mean([getattr(one, part) for one in known], axis=0) for part in ("scores", "samples"))
        return Resampled(scores, samples, ())
    places = [str(place) for place in range(*lengths)]
    seeds = zip(*(one.statistics for one in known), strict=True)
    counts = [clusters([(places, statistics) for statistics in of_seed]) for of_seed in seeds]
    return resample(counts, mean_over(named(metric).value, len(known)), samples=len(known[0].samples))


def _estimate(system: SystemResult, tests: Sequence[str], metric: str, drawn: Resampled | None) -> Estimate:
    """The mean with its interval; where no example is known, as wide as if all sets were off in the same direction."""
    sets = [system.tests[test][metric] for test in tests]
    low, high = (statistics.fmean(getattr(one, end) for one in sets) for end in ("low", "high"))
    if drawn is not None:
        between = interval(drawn)
        low, high = between.low, between.high
    signature = " or ".join(dict.fromkeys(one.signature for one in sets))
    return Estimate(
        statistics.fmean(one.value for one in sets), low, high, f"mean of {len(sets)} test sets, {signature}",
        sum(one.n for one in sets), min(one.seeds for one in sets),
    )  # fmt: skip
