"""The comparison of systems on test sets: scores with intervals, differences that are tested, and
the cost.

Rounding differs between processors, devices and precisions, and moves a score as much as a seed
does. Where the systems of one seed were trained on different hardware, their difference is not
tested.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

from augury.core.store import Folder
from augury.corpora.corpus import Corpus
from augury.experiments.record import Cost
from augury.reporting import notes
from augury.reporting.power import power_of_comparison
from augury.reporting.results import (
    MEAN,
    Estimate,
    SystemResult,
    deviation,
    on_one_device,
    training_times,
)
from augury.reporting.run_files import test_corpus
from augury.scoring.bootstrap import Resampled, resample
from augury.scoring.power import Components, components
from augury.scoring.registry import bounds, lower_is_better, metric_class, unusable
from augury.scoring.seed_variance import pool, sample_variance
from augury.scoring.significance import Difference, clusters, compare, holm, interval, mean_over
from augury.scoring.trivial import Trivial


@dataclass(frozen=True)
class ComparedSystem:
    """One system."""

    name: str
    address: str
    seeds: tuple[int, ...]
    """Seeds that are scored on the test set."""
    scores: dict[str, Estimate]
    difference: float | None
    """To the baseline, in the first metric; None for the baseline itself and where scores cannot
    be compared."""
    tested: Difference | None
    """The difference with its interval and p-value; None where the statistics of sentences are
    gone."""
    corrected: float | None
    """The p-value after Holm's correction for all comparisons on the test set."""
    cost: Cost | None
    time_factor: float | None
    """Training time as a multiple of the baseline's."""
    meaningless: bool = False
    """Whether the difference means nothing, as the system or the baseline is not shown to have
    learnt."""
    seconds: float | None = None
    """The training time of one seed, of the comparison's kind."""

    @property
    def mark(self) -> str:
        """`**` for a corrected p-value below 1 %, `*` below 5 %; empty for differences without
        meaning, and of one seed and one, which say nothing of others."""
        if self.corrected is None or self.meaningless:
            return ""
        if self.tested and self.tested.over == "sentences":
            return ""
        if self.corrected < 0.01:
            return "**"
        return "*" if self.corrected < 0.05 else ""


@dataclass(frozen=True)
class Comparison:
    """Systems on one test set, the baseline first."""

    test: str
    metrics: tuple[str, ...]
    """The first one decides."""
    rows: tuple[ComparedSystem, ...]
    comparisons: int
    """The number of tests that the p-values are corrected for."""
    warnings: tuple[str, ...] = ()
    """What may change a decision: nothing learnt, unequal budgets, numbers that cannot be
    compared."""
    notes: tuple[str, ...] = ()
    """What the numbers need: signatures, and the test with its power."""
    power_text: str = ""
    """What the experiment could see; empty where it has no two systems with two seeds."""
    time_kind: str = "wall time"
    """The kind of training time of all systems: `CPU time` or `wall time`."""

    @property
    def test_label(self) -> str:
        """The test set, as part of a sentence."""
        return "the mean of the test sets" if self.test == MEAN else self.test

    @property
    def lower_is_better(self) -> bool:
        """Whether lower is better for the metric that decides."""
        return lower_is_better(self.metrics[0])

    def row(self, address: str) -> ComparedSystem | None:
        """Return the system with this address; None where it is not compared."""
        return next((row for row in self.rows if row.address == address), None)

    def gain(self, row: ComparedSystem) -> float | None:
        """Return the difference of a row to the baseline, above 0 where the row is better."""
        if row.difference is None:
            return None
        return -row.difference if self.lower_is_better else row.difference


def scored_sets(results: Sequence[SystemResult]) -> list[str]:
    """Return the test sets on which any system is scored, those of the first system first."""
    return list(dict.fromkeys(test for result in results for test in result.tests))


def compare_all(systems: Sequence[SystemResult], tests: Sequence[str]) -> list[Comparison]:
    """Compare the systems with the first on every test set and, where there are several, first on
    their mean."""
    tables = [comparison(systems, test) for test in tests]
    means = with_mean(systems, tests) if len(tests) > 1 else []
    if any(MEAN in system.tests for system in means):
        tables.insert(0, comparison(means, MEAN))
    return tables


def warnings_of(comparisons: Sequence[Comparison]) -> list[str]:
    """Return the warnings of several test sets, each once; those of the first, which decides, come
    first, and what was not learnt on the others is one line."""
    if not comparisons:
        return []
    first, *others = comparisons
    lines, unlearnt = list(first.warnings), []
    for item in others:
        if names := [row.name for row in item.rows if row.meaningless]:
            unlearnt.append(f"{item.test} ({notes.listed(names)})")
    if unlearnt:
        lines.append(f"{notes.WARNING}{notes.LEARNT} also on {notes.listed(unlearnt)}")
    for item in others:
        lines += [line for line in item.warnings if notes.LEARNT not in line]
    return list(dict.fromkeys(lines))


def comparison(results: Sequence[SystemResult], test: str) -> Comparison:
    """Compare the systems on one test set; the first is the baseline."""
    estimates = _pooled(results, test)
    scored_by = dict.fromkeys(metric for of_system in estimates for metric in of_system)
    metrics = tuple(sorted(scored_by, key=lambda metric: bool(unusable(metric))))
    metric, baseline = metrics[0], results[0]
    tested, variance = _differences(results, test, metric)
    corrected = iter(holm([difference.p_value for difference in tested if difference]))
    time_kind, times = training_times([result.cost for result in results])
    first, unlearnt, rows = estimates[0].get(metric), dict[str, Trivial](), list[ComparedSystem]()
    for result, scores, difference, seconds in zip(results, estimates, tested, times, strict=True):
        score, cost, p_value, factor = scores.get(metric), result.cost, None, None
        if difference:
            p_value = max(next(corrected), difference.least_p)
            difference = replace(difference, p_value=max(difference.p_value, difference.least_p))
        if cost and baseline.cost and on_one_device([baseline.cost, cost]):
            factor = seconds / times[0] if seconds and times[0] else None
        if score:
            worst = score.high if lower_is_better(metric) else score.low
            if trivial := notes.not_beaten(result, test, metric, worst):
                unlearnt[result.name] = trivial
        comparable = score and first and _is_comparable(baseline, result, test, metric)
        row = ComparedSystem(
            result.name,
            result.address,
            seeds=score.seeds if score else (),
            scores=scores,
            difference=score.value - first.value if comparable and score and first else None,
            tested=difference,
            corrected=p_value,
            cost=cost,
            time_factor=factor,
            meaningless=bool(unlearnt.keys() & {baseline.name, result.name}),
            seconds=seconds,
        )
        rows.append(row)
    of_power = [row.scores[metric] for row in rows if row.tested or row is rows[0] and row.seeds]
    power = power_of_comparison(metric, variance, of_power)
    of_tests = {row.name: row.tested for row in rows if row.tested}
    confounded = [result.name for result in results if _confounded(baseline, result)]
    learnt = notes.untrained_warnings(metric, unlearnt)
    others = notes.warnings(results, confounded, test, metrics)
    measured = notes.score_notes(results, test, metrics, of_tests)
    return Comparison(
        test,
        metrics,
        tuple(rows),
        comparisons=sum(row.tested is not None for row in rows),
        warnings=(*learnt, *others),
        notes=tuple(filter(None, [*measured, power])),
        power_text=power,
        time_kind=time_kind,
    )


def _pooled(results: Sequence[SystemResult], test: str) -> list[dict[str, Estimate]]:
    """Return the estimates of all systems by metric, with intervals from variances between seeds
    that are shrunk to the pooled ones."""
    pooled = {}
    for metric in {metric for result in results for metric in result.resampled.get(test, {})}:
        known = [result.samples(test, metric) for result in results]
        pooled[metric] = pool([sample_variance(drawn) for drawn in known if drawn is not None])
    shown = [dict(result.tests.get(test, {})) for result in results]
    for result, estimates in zip(results, shown, strict=True):
        for metric, estimate in estimates.items():
            drawn = result.samples(test, metric)
            if drawn is not None and drawn.seeds > 1:
                low, high = interval(drawn, pooled[metric]).within(bounds(metric))
                estimates[metric] = replace(estimate, low=low, high=high)
    return shown


def _differences(
    results: Sequence[SystemResult], test: str, metric: str
) -> tuple[list[Difference | None], Components | None]:
    """Test every comparable system against the first one; return the differences, None where one
    is not tested, and the components of their variance, None where no system has two seeds."""
    known = [result.samples(test, metric) for result in results]
    differences: list[Difference | None] = [None] * len(results)
    baseline = known[0]
    if baseline is None:
        return differences, None
    tested = {
        index: system
        for index, system in enumerate(known)
        if system is not None
        and not _confounded(results[0], results[index])
        and _is_comparable(results[0], results[index], test, metric)
    }
    pooled = pool([sample_variance(system) for system in (baseline, *tested.values())])
    for index, system in tested.items():
        differences[index] = compare(baseline, system, pooled).within(bounds(metric))
    # Of a mean, those of all sets, as power has them, and not the rows that are drawn together.
    sentences = results[0].tests[test][metric].n
    return differences, components([baseline, *tested.values()], sentences)


def _is_comparable(baseline: SystemResult, result: SystemResult, test: str, metric: str) -> bool:
    """Return whether a system and the baseline were scored on the same text in the same way."""
    if result is baseline or not (baseline.score(test, metric) and result.score(test, metric)):
        return False
    return not notes.incomparable([baseline, result], test, [metric])


def _confounded(baseline: SystemResult, system: SystemResult) -> bool:
    """Return whether two systems were trained on different hardware, and a seed of one not on that
    of the same seed of the other."""
    if len({*baseline.hardware.values(), *system.hardware.values()}) <= 1:
        return False
    return baseline.hardware != system.hardware


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
            if len(estimates) < len(sets) or len({estimate.seeds for estimate in estimates}) > 1:
                continue
            drawn = _resampled_mean(system, tests, metric)
            sd, low = None, statistics.fmean(estimate.low for estimate in estimates)
            high = statistics.fmean(estimate.high for estimate in estimates)
            if drawn is not None:
                resampled[metric], sd = drawn, deviation(drawn.scores.tolist())
                low, high = interval(drawn).within(bounds(metric))
            signature = " or ".join(dict.fromkeys(estimate.signature for estimate in estimates))
            means[metric] = Estimate(
                statistics.fmean(estimate.value for estimate in estimates),
                low,
                high,
                f"mean of {len(sets)} test sets, {signature}",
                sum(estimate.n for estimate in estimates),
                estimates[0].seeds,
                sd,
            )
        if means:
            all_sets = {**{test: system.tests[test] for test in tests}, MEAN: means}
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
    # All exceptions of the mean may be in the smallest set.
    examples = len(sets) * min(drawn.examples for drawn in sets)
    return resample(counts, value, samples=len(sets[0].samples), examples=examples)


@lru_cache(maxsize=64)
def _ids(corpus: Folder) -> tuple[str, ...]:
    return tuple(Corpus(corpus).column("id"))
