"""Compare systems on several test sets, such as the languages of XNLI, and on their mean."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import astuple, replace
from functools import lru_cache
from itertools import chain

from augury.core.store import Folder
from augury.corpora.corpus import Corpus
from augury.reporting.comparison import Comparison, comparison
from augury.reporting.differences import DEFAULT, Inference
from augury.reporting.results import MEAN, Estimate, SystemResult, deviation
from augury.reporting.run_files import test_corpus
from augury.scoring.bootstrap import Resampled, resample
from augury.scoring.registry import bounds, metric_class
from augury.scoring.significance import clusters, interval, mean_over


def compare_all(
    systems: Sequence[SystemResult],
    tests: Sequence[str],
    inference: Inference = DEFAULT,
) -> list[Comparison]:
    """Compare the systems with the first on every test set and, where there are several, first on
    their mean.

    Approximate randomisation swaps systems on one test set and has no mean.
    """
    tables = [comparison(systems, test, inference) for test in tests]
    if len(tests) < 2 or inference.method == "randomisation":
        return tables
    means = with_mean(systems, tests)
    if any(MEAN in system.tests for system in means):
        tables.insert(0, comparison(means, MEAN, inference))
    return tables


def with_mean(systems: Sequence[SystemResult], tests: Sequence[str]) -> list[SystemResult]:
    """Return the systems with the mean of every metric over `tests` as a further test set, called
    `MEAN`.

    Translations of one example are not independent, and are resampled together. They share an id,
    or the row in their ids (`<set>-<row>`); where the sets have no id in common, or ids are gone,
    they share their place in the set. Resampling unrelated examples together does no harm. A system
    has no mean without one of the sets, or where the sets are scored for different seeds.
    """
    assert MEAN not in tests, "corpora refuse this name of a test set"
    return [
        _with_mean(system, tests) if all(test in system.tests for test in tests) else system
        for system in systems
    ]


def _with_mean(system: SystemResult, tests: Sequence[str]) -> SystemResult:
    sets = [system.tests[test] for test in tests]
    means, resampled = {}, {}
    for metric in sets[0]:
        estimates = [of_set[metric] for of_set in sets if metric in of_set]
        if len(estimates) < len(sets) or len({estimate.seeds for estimate in estimates}) > 1:
            continue
        drawn = _resampled_mean(system, tests, metric)
        means[metric] = _estimate(estimates, metric, drawn)
        if drawn is not None:
            resampled[metric] = drawn
    if not means:
        return system
    return replace(
        system, tests={**system.tests, MEAN: means}, resampled={**system.resampled, MEAN: resampled}
    )


def _resampled_mean(system: SystemResult, tests: Sequence[str], metric: str) -> Resampled | None:
    """Return the means on resampled sets; None where the statistics of any set's examples are
    gone."""
    known = [system.samples(test, metric) for test in tests]
    sets = [drawn for drawn in known if drawn is not None]
    if len(sets) < len(known):
        return None
    examples = _examples(system, tests, [len(drawn.statistics[0]) for drawn in sets])
    seeds = zip(*(drawn.statistics for drawn in sets), strict=True)
    counts = [clusters(list(zip(examples, of_seed, strict=True))) for of_seed in seeds]
    value = mean_over(metric_class(metric).value, len(sets))
    return resample(counts, value, samples=len(sets[0].samples), labels=sets[0].labels)


def _examples(
    system: SystemResult, tests: Sequence[str], lengths: Sequence[int]
) -> list[list[str]]:
    """Return a name for every example of every set: those with equal names are resampled
    together."""
    run = next(iter(system.runs.values()), None)
    names = []
    for test in tests:
        corpus = test_corpus(run, test) if run else None
        ids = _ids(corpus.folder) if corpus else ()
        names.append([name.removeprefix(f"{test}-") for name in ids])
    shared = len(set(chain.from_iterable(names))) < sum(map(len, names))
    if shared and [*map(len, names)] == [*lengths]:
        return names
    return [[str(index) for index in range(length)] for length in lengths]


@lru_cache(maxsize=64)
def _ids(corpus: Folder) -> tuple[str, ...]:
    return tuple(Corpus(corpus).column("id"))


def _estimate(sets: Sequence[Estimate], metric: str, resampled: Resampled | None) -> Estimate:
    """Return the mean of the estimates of test sets, with its interval.

    Without statistics of examples, the interval is as wide as if all sets deviated in the same
    direction.
    """
    low = statistics.fmean(estimate.low for estimate in sets)
    high = statistics.fmean(estimate.high for estimate in sets)
    sd = None
    if resampled is not None:
        low, high = astuple(interval(resampled).within(bounds(metric)))
        sd = deviation(resampled.scores.tolist())
    signature = " or ".join(dict.fromkeys(estimate.signature for estimate in sets))
    return Estimate(
        statistics.fmean(estimate.value for estimate in sets),
        low,
        high,
        f"mean of {len(sets)} test sets, {signature}",
        sum(estimate.n for estimate in sets),
        sets[0].seeds,
        sd,
    )
