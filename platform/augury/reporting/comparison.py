"""The comparison of systems on a test set: scores with intervals, differences that are tested, and the cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from augury.reporting.learnt import WARNING, Reached, not_learnt
from augury.reporting.numbers import number, signed
from augury.reporting.results import Cost, Estimate, SystemResult, comparable_seconds
from augury.scoring.bootstrap import SEED, Resampled
from augury.scoring.metrics import lower_is_better, metric_class, segment_noun, title
from augury.scoring.significance import TRIALS, Difference, Method, compare_by, holm

WEIGHTS = {
    "averaged": "the mean of the last checkpoints",
    "last": "the last checkpoint",
    "best": "the best on validation",
}
MEAN = "mean"
"""The name of the mean over test sets, in the place of a test set's."""


@dataclass(frozen=True)
class Row:
    """One system."""

    name: str
    address: str
    seeds: tuple[int, ...]
    """Seeds that are scored."""
    scores: dict[str, Estimate]
    difference: float | None
    """Of the first metric, to the baseline; None for the baseline itself and where it means nothing."""
    tested: Difference | None
    """The difference with its interval and p-value; None where the counts of sentences are not known any more."""
    corrected: float | None
    """The p-value after Holm's correction for all comparisons of the table."""
    cost: Cost | None
    time_factor: float | None
    """Training time as a multiple of the baseline's."""

    @property
    def mark(self) -> str:
        """`**` for a corrected p-value below 1 %, `*` below 5 %."""
        if self.corrected is None:
            return ""
        return "**" if self.corrected < 0.01 else "*" if self.corrected < 0.05 else ""

    @property
    def difference_text(self) -> str:
        """`+1.8** [+0.4, +3.2]`; without interval and mark where it is not tested."""
        if self.tested is None:
            return number(self.difference, signed)
        value, *ends = (signed(value) for value in (self.tested.value, self.tested.low, self.tested.high))
        return f"{value}{self.mark} [{', '.join(ends)}]"


@dataclass(frozen=True)
class Comparison:
    """Systems on one test set, the baseline first."""

    test: str
    metrics: tuple[str, ...]
    """The first one decides."""
    rows: tuple[Row, ...]
    comparisons: int
    """Tests that the p-values are corrected for."""
    notes: tuple[str, ...]
    """Signatures, sizes, seeds, tests, and whatever cannot be compared: without them the numbers cannot be read."""

    @property
    def where(self) -> str:
        """The test set in a sentence."""
        return "the mean of the test sets" if self.test == MEAN else self.test

    @property
    def costed(self) -> bool:
        """Whether the cost of any system is known."""
        return any(row.cost for row in self.rows)

    def times(self) -> tuple[str, dict[str, float]]:
        """Return what the times of training are (`comparable_seconds`), and address -> time, where it is known."""
        costs = {row.address: row.cost for row in self.rows if row.cost}
        kind, seconds = comparable_seconds(list(costs.values()))
        return kind, dict(zip(costs, seconds, strict=True))

    @property
    def lower_is_better(self) -> bool:
        """Of the metric that decides."""
        return lower_is_better(self.metrics[0])

    @property
    def warnings(self) -> list[str]:
        """The notes that say that the numbers mean nothing."""
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
    """Return the test sets that any system is scored on, those of the first system first."""
    return list(dict.fromkeys(test for result in results for test in result.tests))


def comparison(results: Sequence[SystemResult], test: str, method: Method = "two-level") -> Comparison:
    """Compare the systems on one test set; the first is the baseline."""
    baseline = results[0]
    metrics = tuple(dict.fromkeys(metric for result in results for metric in result.tests.get(test, {})))
    rows = [_row(result, baseline, test, metrics[0]) for result in results]
    rows = _with_tests(rows, [result.resampled.get(test, {}).get(metrics[0]) for result in results], metrics[0], method)
    notes = [
        *not_learnt(_reached(results, test), test),
        *_readings(results, test, metrics),
        *_test_notes(rows, metrics[0], method),
        *_problems(results, test, metrics),
        *training_notes(results),
        *cautions(results),
    ]
    return Comparison(test, metrics, tuple(rows), sum(row.tested is not None for row in rows), tuple(notes))


def _row(result: SystemResult, baseline: SystemResult, test: str, metric: str) -> Row:
    scores = dict(result.tests.get(test, {}))
    own, other = scores.get(metric), baseline.tests.get(test, {}).get(metric)
    difference = time_factor = None
    if own and other and result is not baseline and (own.measure, own.n) == (other.measure, other.n):
        difference = own.value - other.value
    if result.cost and baseline.cost and result.cost.device == baseline.cost.device:
        _, (own_time, baseline_time) = comparable_seconds([result.cost, baseline.cost])
        time_factor = own_time / baseline_time
    scored = tuple(seed for seed in result.runs if seed not in result.unscored)
    return Row(result.name, result.address, scored, scores, difference, None, None, result.cost, time_factor)


def _with_tests(rows: Sequence[Row], drawn: Sequence[Resampled | None], metric: str, method: Method) -> list[Row]:
    """Return the rows with their differences tested, and the p-values corrected for the number of tests."""
    baseline = drawn[0]
    differences = [
        compare_by(method, baseline, own, metric_class(metric).value)
        if baseline and own and row.difference is not None
        else None
        for row, own in zip(rows, drawn, strict=True)
    ]
    corrected = iter(holm([difference.p_value for difference in differences if difference]))
    return [
        replace(row, tested=difference, corrected=next(corrected)) if difference else row
        for row, difference in zip(rows, differences, strict=True)
    ]


def _readings(results: Sequence[SystemResult], test: str, metrics: Sequence[str]) -> list[str]:
    """Say how the numbers are read."""
    lines = []
    for metric in metrics:
        estimates = [result.tests[test][metric] for result in results if metric in result.tests.get(test, {})]
        for signature, n in dict.fromkeys((estimate.signature, estimate.n) for estimate in estimates):
            least = ", lower is better" if lower_is_better(metric) else ""
            lines.append(f"{title(metric)}: {signature}, n = {n:,}{least}")
    lines.append("seeds: " + _by_value({result.name: ", ".join(map(str, result.runs)) for result in results}))
    several = any(len(result.runs) > 1 for result in results)
    lines.append(
        f"intervals: bootstrap over {segment_noun(metrics[0])}" + (", with Student's t over seeds" if several else "")
    )
    return lines


def _test_notes(rows: Sequence[Row], metric: str, method: Method) -> list[str]:
    """Say where the p-values come from."""
    tested = [row for row in rows if row.tested]
    if not tested:
        return []
    alone = [row.name for row in tested if row.tested and row.tested.over == "sentences"]
    over = segment_noun(metric)
    both_levels = f"two-level test over seeds and {over}"
    match method:
        case "bootstrap":
            how = "sacreBLEU's paired bootstrap"
        case "randomisation":
            how = f"sacreBLEU's approximate randomisation (ar:{TRIALS}|seed:{SEED})"
        case _ if not alone:
            how = f"{both_levels}, two-sided"
        case _ if len(alone) == len(tested):
            how = f"paired bootstrap over {over}, two-sided"
        case _:
            how = f"{both_levels}, two-sided; paired bootstrap over {over} for {', '.join(alone)}"
    family = f", with Holm's correction for {len(tested)} comparisons" if len(tested) > 1 else ""
    lines = [f"p of the difference to {rows[0].name}: {how}{family}; * p < 0.05, ** p < 0.01"]
    if alone:
        lines.append(f"one seed against one says nothing of other seeds: {', '.join(alone)}")
    seeds = rows[0].scores[metric].seeds
    lines += [
        f"{row.name}: the noise of one seed is taken to be that of the {max(seeds, own)} it is compared with"
        for row in tested
        if min(seeds, own := row.scores[metric].seeds) == 1 < max(seeds, own)
    ]
    return lines


def _problems(results: Sequence[SystemResult], test: str, metrics: Sequence[str]) -> list[str]:
    """Say which numbers cannot be compared, and which are missing."""
    lines = [
        f"{result.name}: no scores yet for seed {', '.join(map(str, result.unscored))}"
        for result in results
        if result.unscored
    ]
    scored = [result for result in results if metrics[0] in result.tests.get(test, {})]
    unknown = [result.name for result in scored if metrics[0] not in result.resampled.get(test, {})]
    if unknown and len(results) > 1:
        lines.append(
            f"not tested, as the counts of {segment_noun(metrics[0])} are gone: {', '.join(unknown)}; remove "
            "scores.json from the runs and give the command again that made them"
        )
    for metric in metrics:
        estimates = [result.tests[test][metric] for result in results if metric in result.tests.get(test, {})]
        if len({(estimate.measure, estimate.n) for estimate in estimates}) > 1:
            lines.append(f"{title(metric)} was not measured in the same way for all systems: do not compare it")
    if len({result.cost.device for result in results if result.cost}) > 1:
        lines.append("times were measured on different devices: do not compare them")
    return lines


def _reached(results: Sequence[SystemResult], test: str) -> list[Reached]:
    return [
        Reached(result.name, run, metric, estimate.value, estimate.low)
        for result in results
        for run in [*result.runs.values()][:1]
        for metric, estimate in result.tests.get(test, {}).items()
    ]


def training_notes(results: Sequence[SystemResult]) -> list[str]:
    """Say what was held equal between the systems, and what of their training a reader must know."""
    costs = {result.name: result.cost for result in results if result.cost}
    if not costs:
        return []
    lines = [_budget(results), "passes: how often the plain text was read / each other view"]
    kinds = {name: " or ".join(WEIGHTS[kind] for kind in dict.fromkeys(cost.weights)) for name, cost in costs.items()}
    lines.append(f"weights: {_by_value(kinds)}")
    lines += _sums(costs)
    delayed = [f"{name} after update {cost.onset:,.0f}" for name, cost in costs.items() if cost.onset]
    if delayed:
        lines.append(f"divergence or attack acts in full: {'; '.join(delayed)}")
    pieces = {name: sum(cost.pieces.values()) for name, cost in costs.items()}
    lines.append("subwords of a plain record: " + _by_value({name: f"{count:.1f}" for name, count in pieces.items()}))
    return lines


def _sums(costs: Mapping[str, Cost]) -> list[str]:
    """Say whose cost is that of several trainings, and what it leaves out."""
    lines = []
    if several := [f"{name} ({cost.trainings:g} trainings)" for name, cost in costs.items() if cost.trainings > 1]:
        lines.append(
            "tokens seen and time are of all trainings behind a system, stages before it and models that make "
            "its text, with the time of making it; updates and passes of the last one alone: " + ", ".join(several)
        )
    if elsewhere := [name for name, cost in costs.items() if cost.uncounted]:
        lines.append(f"time leaves out models that were trained elsewhere: {', '.join(elsewhere)}")
    return lines


def _budget(results: Sequence[SystemResult]) -> str:
    """Say what ends the training of the systems, if it is the same for all."""
    parameters = [result.facts["parameters"] for result in results if result.cost]
    ends = {unit: {settings.get(f"training.max_{unit}") for settings in parameters} for unit in ("passes", "updates")}
    equal = [f"at most {limit:,} {unit}" for unit, (limit, *others) in ends.items() if limit and not others]
    patience = {settings.get("training.patience") for settings in parameters}
    stops = f", or {patience.pop()} validations without gain" if len(patience) == 1 else ""
    return f"held equal: {' and '.join(equal)}{stops}" if equal else "held equal: nothing; budgets differ"


def _by_value(values: Mapping[str, str]) -> str:
    """Return the value that all systems share, or every system's; many that agree are named once, as the others."""
    (common, count), *_ = Counter(values.values()).most_common(1)
    if count == len(values):
        return common
    parts = [f"{name} {value}" for name, value in values.items() if value != common or count < 3]
    return "; ".join([*parts, *([f"the others {common}"] if count >= 3 else [])])


def cautions(results: Sequence[SystemResult]) -> list[str]:
    """Return what must be known of the texts of any of the systems."""
    return list(dict.fromkeys(note for result in results for note in result.notes))
