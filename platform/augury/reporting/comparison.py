"""The comparison of systems on test sets: scores with intervals, differences that are tested, and
the cost.

Rounding differs between processors, devices and precisions, and moves a score as much as a seed
does. Where the seeds of two systems were trained on different hardware, and each seed of both on
the same, seeds are blocks and are paired. Where the systems of one seed were trained on different
hardware, their difference is not tested.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Any, Literal

from augury.core.store import Folder
from augury.corpora.corpus import Corpus
from augury.experiments.record import Cost
from augury.regimes.regime import SHORTEN
from augury.reporting.notes import (
    WARNING,
    SystemScore,
    grouped,
    listed,
    measured,
    not_beaten,
    problems,
    signatures,
    texts_of,
    training_notes,
    unequal_budgets,
    untrained_warnings,
)
from augury.reporting.numbers import number, signed
from augury.reporting.power import Power, power_of_comparison
from augury.reporting.results import (
    MEAN,
    Estimate,
    SystemResult,
    deviation,
    on_one_device,
    seconds_of,
    time_kind,
)
from augury.reporting.run_files import test_corpus
from augury.reporting.system_tables import output_warnings
from augury.scoring import registry
from augury.scoring.bootstrap import Resampled, resample
from augury.scoring.power import Components, components
from augury.scoring.registry import bounds, lower_is_better, metric_class, segment_noun
from augury.scoring.seed_variance import SeedVariance, block_variance, pool, sample_variance
from augury.scoring.significance import (
    Difference,
    clusters,
    compare,
    compare_blocks,
    holm,
    interval,
    mean_over,
)

Layout = Literal["independent", "blocks", "confounded"]


@dataclass(frozen=True)
class Row:
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
    meaningless: str = ""
    """Why the score and the difference mean nothing, as a part of a sentence; empty where they may
    mean something."""

    @property
    def mark(self) -> str:
        """`**` for a corrected p-value below 1 %, `*` below 5 %; empty for differences without
        meaning, and of one seed and one, which say nothing of others."""
        if self.corrected is None or self.meaningless or self.of_single_seeds:
            return ""
        return "**" if self.corrected < 0.01 else "*" if self.corrected < 0.05 else ""

    @property
    def of_single_seeds(self) -> bool:
        """Whether the difference is one of two trainings, tested over sentences alone."""
        return self.tested is not None and self.tested.over == "sentences"

    @property
    def difference_text(self) -> str:
        """`+1.8** [+0.4, +3.2]`; without interval and mark where it is not tested."""
        if self.tested is None:
            return number(self.difference, signed)
        tested = self.tested
        return f"{signed(tested.value)}{self.mark} [{signed(tested.low)}, {signed(tested.high)}]"


@dataclass(frozen=True)
class Comparison:
    """Systems on one test set, the baseline first."""

    test: str
    metrics: tuple[str, ...]
    """The first one decides."""
    rows: tuple[Row, ...]
    comparisons: int
    """The number of tests that the p-values are corrected for."""
    warnings: tuple[str, ...] = ()
    """What may change a decision: nothing learnt, unequal budgets, numbers that cannot be
    compared."""
    notes: tuple[str, ...] = ()
    """What the numbers need: signatures, and the test with its power."""
    details: tuple[str, ...] = ()
    """What was held equal in training, and what costs are of."""
    power: Power | None = None
    """What the experiment could see; None where it has no system with two seeds."""

    @property
    def test_label(self) -> str:
        """The test set, as part of a sentence."""
        return "the mean of the test sets" if self.test == MEAN else self.test

    @property
    def power_text(self) -> str:
        """What the experiment could see, as a sentence; empty where that is not known."""
        return self.power.text if self.power else ""

    @property
    def has_costs(self) -> bool:
        """Whether the cost of any system is known."""
        return any(row.cost for row in self.rows)

    @property
    def time_kind(self) -> str:
        """The kind of training time of all systems: `CPU time` or `wall time`."""
        return time_kind([row.cost for row in self.rows if row.cost])

    def seconds(self, row: Row) -> float | None:
        """Return the training time of one seed of a system; None where it is not known."""
        return seconds_of(row.cost, self.time_kind) if row.cost else None

    @property
    def units(self) -> Literal["examples", "tokens"]:
        """What training counts: examples where labels are learnt, target tokens elsewhere."""
        return counted_unit(self.metrics[0])

    @property
    def lower_is_better(self) -> bool:
        """Whether lower is better for the metric that decides."""
        return lower_is_better(self.metrics[0])

    def row(self, address: str) -> Row | None:
        """Return the system with this address; None where it is not compared."""
        return next((row for row in self.rows if row.address == address), None)

    def gain(self, row: Row) -> float | None:
        """Return the difference of a row to the baseline, above 0 where the row is better."""
        if row.difference is None:
            return None
        return -row.difference if self.lower_is_better else row.difference

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON-like values."""
        return {**asdict(self), "lower_is_better": self.lower_is_better}


def counted_unit(metric: str) -> Literal["examples", "tokens"]:
    """Return what training counts, by the metric that decides."""
    return "examples" if metric in registry.names("labels") else "tokens"


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
    """Return the warnings of several test sets: of the first, which decides, and what the others
    have besides, without repeating what was not learnt on each."""
    if not comparisons:
        return []
    first, *others = comparisons
    lines, unlearnt = grouped({item.test: item.warnings for item in others}), []
    for item in others:
        names = [row.name for row in item.rows if row.meaningless]
        if names:
            unlearnt.append(f"{item.test} ({listed(names)})")
    known = [line for line in lines if not any(text in line for text in (*first.warnings, LEARNT))]
    more = [f"{WARNING}{LEARNT} also on {listed(unlearnt)}"] if unlearnt else []
    return [*first.warnings, *more, *known]


LEARNT = "not shown to have learnt"


def comparison(results: Sequence[SystemResult], test: str) -> Comparison:
    """Compare the systems on one test set; the first is the baseline."""
    results = with_pooled_intervals(results, test)
    metrics = tuple(
        dict.fromkeys(metric for result in results for metric in result.tests.get(test, {}))
    )
    metric, baseline = metrics[0], results[0]
    layouts = [_layout(baseline, result) for result in results]
    tested, variance = _differences(results, layouts, test, metric)
    corrected = iter(holm([difference.p_value for difference in tested if difference]))
    scores = _system_scores(results, test, metric)
    unlearnt = {score.name: trivial for score in scores if (trivial := not_beaten(score))}
    kind = time_kind([result.cost for result in results if result.cost])
    rows = []
    for result, difference in zip(results, tested, strict=True):
        score, reference = result.score(test, metric), baseline.score(test, metric)
        comparable = _is_comparable(baseline, result, test, metric)
        least = difference.least_p if difference else 0.0
        names = [name for name in dict.fromkeys([baseline.name, result.name]) if name in unlearnt]
        why = ""
        if names:
            level, are = unlearnt[names[0]], "are" if len(names) > 1 else "is"
            why = f"{' and '.join(names)} {are} {LEARNT} more than {level.output}"
            why += f" ({level.value:.1f})"
        row = Row(
            result.name,
            result.address,
            seeds=score.seeds if score else (),
            scores=dict(result.tests.get(test, {})),
            difference=score.value - reference.value
            if comparable and score and reference
            else None,
            tested=replace(difference, p_value=max(difference.p_value, least))
            if difference
            else None,
            corrected=max(next(corrected), least) if difference else None,
            cost=result.cost,
            time_factor=_time_factor(result.cost, baseline.cost, kind),
            meaningless=why,
        )
        rows.append(row)
    scored = [row.scores[metric] for row in rows if row.tested or row is rows[0] and row.seeds]
    power = power_of_comparison(metric, variance, scored)
    return Comparison(
        test,
        metrics,
        tuple(rows),
        comparisons=sum(row.tested is not None for row in rows),
        warnings=(
            *untrained_warnings(scores),
            *_budget_warnings(results, metric),
            *_onset_warnings(rows),
            *output_warnings(results),
            *problems(results, test, metrics),
            *_hardware_notes(results, layouts),
        ),
        notes=(
            *signatures(results, test, metrics),
            *_test_notes(rows, metric),
            *([power.text] if power else []),
        ),
        details=tuple(training_notes(results)),
        power=power,
    )


def with_pooled_intervals(results: Sequence[SystemResult], test: str) -> list[SystemResult]:
    """Return the systems with intervals from variances between seeds that are shrunk to the
    pooled ones."""
    pooled = {}
    for metric in {metric for result in results for metric in result.resampled.get(test, {})}:
        known = [result.samples(test, metric) for result in results]
        pooled[metric] = pool([sample_variance(drawn) for drawn in known if drawn is not None])
    return [_with_intervals(result, test, pooled) for result in results]


def _with_intervals(
    result: SystemResult, test: str, pooled: Mapping[str, SeedVariance]
) -> SystemResult:
    estimates = dict(result.tests.get(test, {}))
    for metric, estimate in estimates.items():
        resampled = result.samples(test, metric)
        if resampled is not None and resampled.seeds > 1:
            between = interval(resampled, pooled[metric]).within(bounds(metric))
            estimates[metric] = replace(estimate, low=between.low, high=between.high)
    return replace(result, tests={**result.tests, test: estimates}) if estimates else result


def _differences(
    results: Sequence[SystemResult], layouts: Sequence[Layout], test: str, metric: str
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
        and layouts[index] != "confounded"
        and _is_comparable(results[0], results[index], test, metric)
    }
    blocks = [system for index, system in tested.items() if layouts[index] == "blocks"]
    independent = [system for index, system in tested.items() if layouts[index] == "independent"]
    pooled = pool([sample_variance(system) for system in (baseline, *independent)])
    pooled_blocks = block_variance([baseline, *blocks])
    for index, system in tested.items():
        if layouts[index] == "blocks":
            difference = compare_blocks(baseline, system, pooled_blocks)
        else:
            difference = compare(baseline, system, pooled)
        differences[index] = difference.within(bounds(metric))
    variance = None
    if baseline.statistics:
        paired, compared = bool(blocks and not independent), [baseline, *tested.values()]
        variance = components(compared, len(baseline.statistics[0]), paired=paired)
    return differences, variance


def _is_comparable(baseline: SystemResult, result: SystemResult, test: str, metric: str) -> bool:
    """Return whether a system and the baseline were scored on the same text in the same way."""
    score, reference = result.score(test, metric), baseline.score(test, metric)
    if result is baseline or score is None or reference is None:
        return False
    same_text = texts_of(result, test) == texts_of(baseline, test)
    return same_text and measured(score) == measured(reference)


def _layout(baseline: SystemResult, system: SystemResult) -> Layout:
    """Return how the seeds of two systems are related by the hardware that trained them."""
    kinds = {*baseline.hardware.values(), *system.hardware.values()}
    if system is baseline or len(kinds) <= 1:
        return "independent"
    seeds = list(baseline.runs)
    shared = [seed for seed in seeds if seed in system.runs]
    equal = all(baseline.hardware.get(seed) == system.hardware.get(seed) for seed in shared)
    return "blocks" if seeds == list(system.runs) and len(seeds) > 1 and equal else "confounded"


def _hardware_notes(results: Sequence[SystemResult], layouts: Sequence[Layout]) -> list[str]:
    kinds = dict.fromkeys(kind for result in results for kind in result.hardware.values())
    named = [(result.name, layout) for result, layout in zip(results, layouts, strict=True)]
    lines = []
    if len(kinds) > 1:
        lines.append(
            f"trained on different hardware, which moves scores as seeds do: {'; '.join(kinds)}"
        )
    if blocks := [name for name, layout in named if layout == "blocks"]:
        lines.append(
            "seeds are paired, as all systems of a seed ran on the same hardware: "
            f"{', '.join(blocks)}"
        )
    if confounded := [name for name, layout in named if layout == "confounded"]:
        lines.append(
            f"not tested, as seeds were trained on other hardware than those of {results[0].name}: "
            f"{', '.join(confounded)}; train all systems of a seed on one machine, in one precision"
        )
    return lines


def _time_factor(cost: Cost | None, baseline: Cost | None, kind: str) -> float | None:
    """Return a training time as a multiple of the baseline's; None on another device than it."""
    if cost is None or baseline is None or not on_one_device([baseline, cost]):
        return None
    return seconds_of(cost, kind) / seconds_of(baseline, kind)


def _budget_warnings(results: Sequence[SystemResult], metric: str) -> list[str]:
    if unequal := unequal_budgets(results[0], results[1:], counted_unit(metric)):
        return [f"{WARNING}budgets differ: {unequal}; --equal updates or tokens holds them equal"]
    return []


def _onset_warnings(rows: Sequence[Row]) -> list[str]:
    """Return a warning on systems whose training ended before all of their regime's loss acted."""
    idle = [
        f"{row.name} (from update {row.cost.onset:,.0f}, trained for {row.cost.updates:,.0f})"
        for row in rows
        if row.cost and row.cost.onset and row.cost.onset >= row.cost.updates
    ]
    return [f"{WARNING}the regime never acted in full: {listed(idle)}; {SHORTEN}"] if idle else []


def _test_notes(rows: Sequence[Row], metric: str) -> list[str]:
    """Return a note on the tests behind the p-values."""
    tested = [row for row in rows if row.tested]
    if not tested:
        return []
    over, single = segment_noun(metric), [row.name for row in tested if row.of_single_seeds]
    test = f"moderated t-test over seeds and {over}"
    if len(single) == len(tested):
        test = f"paired bootstrap over {over}"
    family = f", corrected for {len(tested)} comparisons (Holm)" if len(tested) > 1 else ""
    line = f"p of the difference to {rows[0].name}: {test}{family}; * p < 0.05, ** p < 0.01"
    if single:
        line += f"; one seed against one does not tell a method from chance: {listed(single)}"
    if any(row.tested and row.tested.least_p for row in tested):
        line += "; two seeds show no p below 0.01"
    return [line]


def _system_scores(results: Sequence[SystemResult], test: str, metric: str) -> list[SystemScore]:
    """Return the scores of the systems in the metric that decides."""
    scores = []
    for result in results:
        score, run = result.score(test, metric), next(iter(result.runs.values()), None)
        tests = tuple(name for name in result.tests if name != MEAN) if test == MEAN else (test,)
        if score and run:
            worst = score.high if lower_is_better(metric) else score.low
            scores.append(SystemScore(result.name, run, metric, score.value, worst, tests))
    return scores


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
        means[metric] = _mean_estimate(estimates, metric, drawn)
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


def _mean_estimate(sets: Sequence[Estimate], metric: str, resampled: Resampled | None) -> Estimate:
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
