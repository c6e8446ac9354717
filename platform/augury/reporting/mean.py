"""The mean over test sets, as a further test set."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import astuple, replace
from functools import lru_cache
from itertools import chain

from augury.core.store import Folder
from augury.corpora.corpus import Corpus
from augury.reporting.results import MEAN, Estimate, SystemResult, deviation
from augury.reporting.run_files import test_corpus
from augury.scoring.bootstrap import Resampled, resample
from augury.scoring.registry import bounds, metric_class
from augury.scoring.significance import clusters, interval, mean_over


def with_mean(systems: Sequence[SystemResult], tests: Sequence[str]) -> list[SystemResult]:
    """Return the systems with the mean of every metric over `tests` as a further test set, called
    `MEAN`.

    Translations of one example are not independent, and are resampled together. They share an id,
    or the row in their ids (`<set>-<row>`); where the sets have no id in common, or ids are gone,
    they share their place in the set. Resampling unrelated examples together does no harm. A system
    has no mean without one of the sets, or where the sets are scored for different seeds. Without
    statistics of examples, the interval is as wide as if all sets deviated in the same direction.
    """
    assert MEAN not in tests, "corpora refuse this name of a test set"
    known = []
    for system in systems:
        sets = [system.tests.get(test, {}) for test in tests]
        means, resampled = {}, {}
        for metric in sets[0]:
            estimates = [of_set[metric] for of_set in sets if metric in of_set]
            if len(estimates) < len(sets) or len({of.seeds for of in estimates}) > 1:
                continue
            drawn = _resampled_mean(system, tests, metric)
            sd, low = None, statistics.fmean(of.low for of in estimates)
            high = statistics.fmean(of.high for of in estimates)
            if drawn is not None:
                resampled[metric], sd = drawn, deviation(drawn.scores.tolist())
                low, high = astuple(interval(drawn).within(bounds(metric)))
            signature = " or ".join(dict.fromkeys(of.signature for of in estimates))
            means[metric] = Estimate(
                statistics.fmean(of.value for of in estimates),
                low,
                high,
                f"mean of {len(sets)} test sets, {signature}",
                sum(of.n for of in estimates),
                estimates[0].seeds,
                sd,
            )
        if means:
            all_sets = {**system.tests, MEAN: means}
            system = replace(
                system, tests=all_sets, resampled={**system.resampled, MEAN: resampled}
            )
        known.append(system)
    return known


def _resampled_mean(system: SystemResult, tests: Sequence[str], metric: str) -> Resampled | None:
    """Return the means on resampled sets; None where the statistics of any set's examples are
    gone."""
    sets = [drawn for test in tests if (drawn := system.samples(test, metric)) is not None]
    if len(sets) < len(tests):
        return None
    run = next(iter(system.runs.values()), None)
    names = []
    for test in tests:
        corpus = test_corpus(run, test) if run else None
        ids = _ids(corpus.folder) if corpus else ()
        names.append([name.removeprefix(f"{test}-") for name in ids])
    lengths = [len(drawn.statistics[0]) for drawn in sets]
    shared = len(set(chain.from_iterable(names))) < sum(map(len, names))
    if not shared or [*map(len, names)] != lengths:
        names = [[str(index) for index in range(length)] for length in lengths]
    # Those with equal names are resampled together.
    seeds = zip(*(drawn.statistics for drawn in sets), strict=True)
    counts = [clusters(list(zip(names, of_seed, strict=True))) for of_seed in seeds]
    value = mean_over(metric_class(metric).value, len(sets))
    return resample(counts, value, samples=len(sets[0].samples), labels=sets[0].labels)


@lru_cache(maxsize=64)
def _ids(corpus: Folder) -> tuple[str, ...]:
    return tuple(Corpus(corpus).column("id"))
