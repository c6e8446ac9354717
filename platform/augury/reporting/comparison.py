"""The comparison of systems on a test set: scores with intervals, differences that are tested,
and the cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from augury.core.naming import counted
from augury.experiments.record import Cost
from augury.regimes.regime import SHORTEN
from augury.reporting.comparison_notes import (
    cautions,
    ceiling_notes,
    imbalance_notes,
    measured,
    measurement_notes,
    problem_notes,
    texts_of,
    training_notes,
)
from augury.reporting.differences import DEFAULT, Inference, differences_of, with_pooled_intervals
from augury.reporting.numbers import number, signed
from augury.reporting.power import Power, power_of_comparison
from augury.reporting.results import (
    MEAN,
    Estimate,
    SystemResult,
    on_one_device,
    seconds_of,
    time_kind,
)
from augury.reporting.system_tables import output_notes
from augury.reporting.untrained import WARNING, SystemScore, not_beaten, untrained_warnings
from augury.scoring import registry
from augury.scoring.bootstrap import SEED
from augury.scoring.registry import lower_is_better, segment_noun
from augury.scoring.significance import TRIALS, Difference, Method, holm

UNEQUAL = 1.1
"""Budgets that differ by a larger factor are told first."""


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
    """Why the difference means nothing, as a part of a sentence; empty where it may mean
    something."""

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
    def never_acted(self) -> str:
        """That training ended before all of the regime's loss acted; empty where it did not."""
        if self.cost is None or not self.cost.onset or self.cost.onset < self.cost.updates:
            return ""
        return (
            f"the regime of {self.name} never acted in full: its warm-up ends after update "
            f"{self.cost.onset:,.0f}, and training ended after update {self.cost.updates:,.0f}"
        )

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
    notes: tuple[str, ...]
    """Signatures, sizes, seeds, tests, and everything that cannot be compared: the numbers need
    them."""
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
        return "examples" if self.metrics[0] in registry.names("labels") else "tokens"

    @property
    def unequal_budgets(self) -> str:
        """What the systems saw where that differs, such as `X saw 1.9 times the updates of
        baseline`; empty where it does not."""
        parts = []
        for row in self.rows[1:]:
            by_ratio: dict[str, list[str]] = {}
            for what, ratio in _ratios(self.rows[0].cost, row.cost, self.units).items():
                by_ratio.setdefault(f"{ratio:.2g} times the", []).append(what)
            seen = [f"{times} {' and '.join(what)}" for times, what in by_ratio.items()]
            if seen:
                parts.append(f"{row.name} saw {' and '.join(seen)} of {self.rows[0].name}")
        rest = counted(len(parts) - 3, "more system differs", "more systems differ")
        more = f"; and {rest}" if len(parts) > 3 else ""
        return "; ".join(parts[:3]) + more

    @property
    def lower_is_better(self) -> bool:
        """Whether lower is better for the metric that decides."""
        return lower_is_better(self.metrics[0])

    @property
    def warnings(self) -> list[str]:
        """The notes that warn that numbers mean nothing."""
        return [note for note in self.notes if note.startswith(WARNING)]

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


def scored_sets(results: Sequence[SystemResult]) -> list[str]:
    """Return the test sets on which any system is scored, those of the first system first."""
    return list(dict.fromkeys(test for result in results for test in result.tests))


def comparison(
    results: Sequence[SystemResult], test: str, inference: Inference = DEFAULT
) -> Comparison:
    """Compare the systems on one test set; the first is the baseline."""
    if inference.method == "moderated":
        results = with_pooled_intervals(results, test)
    metrics = tuple(
        dict.fromkeys(metric for result in results for metric in result.tests.get(test, {}))
    )
    metric = metrics[0]
    scores = _system_scores(results, test, metric)
    comparable = [_is_comparable(results[0], result, test, metric) for result in results]
    tests = differences_of(results, comparable, test, metric, inference)
    corrected = _corrected(tests.differences)
    differences = [
        tested and replace(tested, p_value=max(tested.p_value, tested.least_p))
        for tested in tests.differences
    ]
    rows = _rows(results, test, metric, comparable, differences, corrected, _meaningless(scores))
    scored = [row.scores[metric] for row in rows if row.tested or row is rows[0] and row.seeds]
    power = power_of_comparison(metric, tests.components, scored)
    notes = [
        *untrained_warnings(scores),
        *imbalance_notes(results, test, metrics),
        *ceiling_notes(results, test, metric),
        *(f"{WARNING}{row.never_acted}; {SHORTEN}" for row in rows if row.never_acted),
        *measurement_notes(results, test, metrics),
        *_test_notes(rows, metric, inference.method),
        *([power.text] if power else []),
        *tests.notes,
        *problem_notes(results, test, metrics),
        *training_notes(results),
        *output_notes(results),
        *cautions(results),
    ]
    comparisons = sum(row.tested is not None for row in rows)
    compared = Comparison(test, metrics, tuple(rows), comparisons, tuple(notes), power)
    if unequal := compared.unequal_budgets:
        first = f"{WARNING}budgets differ: {unequal}; --equal updates or tokens holds them equal"
        return replace(compared, notes=(first, *notes))
    return compared


def _is_comparable(baseline: SystemResult, result: SystemResult, test: str, metric: str) -> bool:
    """Return whether a system and the baseline were scored on the same text in the same way."""
    score, reference = result.score(test, metric), baseline.score(test, metric)
    if result is baseline or score is None or reference is None:
        return False
    same_text = texts_of(result, test) == texts_of(baseline, test)
    return same_text and measured(score) == measured(reference)


def _corrected(differences: Sequence[Difference | None]) -> list[float | None]:
    """Return the p-values of the differences corrected for their number, none below what can be
    relied on."""
    values = iter(holm([tested.p_value for tested in differences if tested]))
    return [max(next(values), tested.least_p) if tested else None for tested in differences]


def _rows(
    results: Sequence[SystemResult],
    test: str,
    metric: str,
    comparable: Sequence[bool],
    differences: Sequence[Difference | None],
    corrected: Sequence[float | None],
    meaningless: Mapping[str, str],
) -> list[Row]:
    """Return the systems; `corrected`: p-values corrected for the number of tests;
    `meaningless`: system -> why its scores mean nothing."""
    baseline = results[0]
    kind = time_kind([result.cost for result in results if result.cost])
    rows = []
    columns = results, comparable, differences, corrected
    for result, compares, tested, p_value in zip(*columns, strict=True):
        score, reference = result.score(test, metric), baseline.score(test, metric)
        names = [name for name in (baseline.name, result.name) if name in meaningless]
        are = f"{' and '.join(names)} {'are' if len(names) > 1 else 'is'}"
        why = f"{are} {meaningless[names[0]]}" if names and result is not baseline else ""
        row = Row(
            result.name,
            result.address,
            seeds=score.seeds if score else (),
            scores=dict(result.tests.get(test, {})),
            difference=score.value - reference.value if compares and score and reference else None,
            tested=tested,
            corrected=p_value,
            cost=result.cost,
            time_factor=_time_factor(result.cost, baseline.cost, kind),
            meaningless=why,
        )
        rows.append(row)
    return rows


def _ratios(baseline: Cost | None, cost: Cost | None, units: str) -> dict[str, float]:
    """Return the updates, and what training counts, of a system as multiples of the baseline's,
    where they differ."""
    if baseline is None or cost is None:
        return {}
    seen = {
        "updates": (baseline.updates, cost.updates),
        units: (baseline.target_tokens, cost.target_tokens),
    }
    ratios = {what: own / its for what, (its, own) in seen.items() if its and own}
    return {what: ratio for what, ratio in ratios.items() if max(ratio, 1 / ratio) > UNEQUAL}


def _time_factor(cost: Cost | None, baseline: Cost | None, kind: str) -> float | None:
    """Return a training time as a multiple of the baseline's; None on another device than it."""
    if cost is None or baseline is None or not on_one_device([baseline, cost]):
        return None
    return seconds_of(cost, kind) / seconds_of(baseline, kind)


def _test_notes(rows: Sequence[Row], metric: str, method: Method) -> list[str]:
    """Return notes on the tests behind the p-values."""
    tested = [row for row in rows if row.tested]
    if not tested:
        return []
    sentences_only = [row.name for row in tested if row.tested and row.tested.over == "sentences"]
    over = segment_noun(metric)
    both_levels = f"{'moderated ' if method == 'moderated' else ''}t-test over seeds and {over}"
    match method:
        case "bootstrap":
            test_name = "sacreBLEU's paired bootstrap"
        case "randomisation":
            test_name = f"sacreBLEU's approximate randomisation (ar:{TRIALS}|seed:{SEED})"
        case _ if not sentences_only:
            test_name = f"{both_levels}, two-sided"
        case _ if len(sentences_only) == len(tested):
            test_name = f"paired bootstrap over {over}, two-sided"
        case _:
            few = ", ".join(sentences_only)
            test_name = f"{both_levels}, two-sided; paired bootstrap over {over} for {few}"
    family = f"; corrected for {len(tested)} comparisons (Holm)" if len(tested) > 1 else ""
    lines = [f"p of the difference to {rows[0].name}: {test_name}{family}; * p < 0.05, ** p < 0.01"]
    if method == "moderated" and len(sentences_only) < len(tested):
        lines.append("moderated: the variation between seeds is estimated from all systems")
    if any(row.tested and row.tested.least_p for row in tested):
        lines.append("two seeds of a system show no p below 0.01")
    if sentences_only:
        lines.append(
            f"one seed against one cannot tell a method from chance: {', '.join(sentences_only)}"
        )
    seeds = len(rows[0].scores[metric].seeds)
    lines += [
        f"{row.name} against {rows[0].name}: {row.name if count == 1 else rows[0].name} has one "
        f"seed, whose variation is taken to be that of the {max(seeds, count)} seeds of the other"
        for row in tested
        if min(seeds, count := len(row.scores[metric].seeds)) == 1 < max(seeds, count)
    ]
    return lines


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


def _meaningless(scores: Sequence[SystemScore]) -> dict[str, str]:
    """Return why the scores of systems that have not learned mean nothing, by system."""
    levels = {score.name: trivial for score in scores if (trivial := not_beaten(score))}
    return {
        name: f"not shown to have learnt more than {level.output} ({level.value:.1f})"
        for name, level in levels.items()
    }
