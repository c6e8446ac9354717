"""The comparison of systems on a test set: scores with intervals, differences that are tested, and the cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import pandas as pd

from augury.core.progress import duration
from augury.reporting.looks import look
from augury.reporting.numbers import MISSING, amount, factor, interval, passes, probability, signed
from augury.reporting.results import Cost, Estimate, SystemResult
from augury.reporting.tables import Bar, Cell, Table
from augury.reporting.tables import Row as TableRow
from augury.scoring import metrics as known_metrics
from augury.scoring.bootstrap import SEED, Resampled
from augury.scoring.metrics import entry, lower_is_better, title
from augury.scoring.significance import TRIALS, Difference, Method, decide, holm

WEIGHTS = {
    "averaged": "the mean of the last checkpoints",
    "last": "the last checkpoint",
    "best": "the best on validation",
}
MEAN = "mean"
"""The name of the mean over test sets, in the place of a test set's."""
LEAST_BLEU = 1.0
"""Below which a model has not learnt to translate, and its differences mean nothing."""
WARNING = "warning: "
COSTS = ("data_factor", "parameters", "updates", "target_tokens", "train_seconds", "device_hours", "device")


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
            return signed(self.difference)
        return f"{signed(self.tested.value)}{self.mark} [{signed(self.tested.low)}, {signed(self.tested.high)}]"


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

    @property
    def lower_is_better(self) -> bool:
        """Of the metric that decides."""
        return lower_is_better(self.metrics[0])

    @property
    def warnings(self) -> list[str]:
        """The notes that say that the numbers mean nothing."""
        return [note for note in self.notes if note.startswith(WARNING)]

    def gain(self, row: Row) -> float | None:
        """Return the difference of a row to the baseline, above 0 where the row is better."""
        if row.difference is None:
            return None
        return -row.difference if self.lower_is_better else row.difference

    def score_columns(self) -> list[str]:
        """Return the titles of the columns of `score_cells`."""
        first, *others = map(title, self.metrics)
        return [f"{first} [95 % interval]", "difference [95 %]", "p", *others]

    def score_cells(self, row: Row | None) -> list[Cell]:
        """Return a system's scores, the deciding one with its difference; dashes for a system that is not scored."""
        first, *others = (row.scores.get(metric) if row else None for metric in self.metrics)
        difference, p_value = (row.difference, row.corrected) if row else (None, None)
        return [
            Cell(interval(first), first.value if first else None),
            Cell(row.difference_text if row else MISSING, difference),
            Cell(probability(p_value), p_value),
            *(Cell(f"{score.value:.1f}" if score else MISSING, score.value if score else None) for score in others),
        ]

    def cost_columns(self) -> list[str]:
        """Return the titles of the columns of `cost_cells`."""
        seen = "examples seen" if self.metrics[0] in known_metrics.names("labels") else "tokens seen"
        return ["data", "parameters", "updates", "passes", seen, "train time", "× baseline"]

    def cost_cells(self, row: Row) -> list[Cell]:
        """Return the cost of one seed of a system."""
        cost = row.cost
        if cost is None:
            return [Cell(MISSING)] * 7
        return [
            Cell(factor(cost.data_factor), cost.data_factor),
            Cell(amount(cost.parameters), cost.parameters),
            Cell(f"{cost.updates:,.0f}", cost.updates),
            Cell(passes(cost.passes), next(iter(cost.passes.values()), None)),
            Cell(amount(cost.target_tokens), cost.target_tokens),
            Cell(duration(cost.train_seconds), cost.train_seconds),
            Cell(factor(row.time_factor), row.time_factor),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON-like values."""
        return {**asdict(self), "lower_is_better": self.lower_is_better}


def tables(comparisons: Sequence[Comparison], bars: bool = False) -> list[Table]:
    """Return all test sets in one table, with the cost beside the scores of one set or below those of several.

    Notes that hold for all sets are given once. With `bars`, the deciding scores are also drawn.
    """
    first, several = comparisons[0], len(comparisons) > 1
    costed = first.costed and not several
    scores = _score_columns(comparisons)
    columns = ["system", *(["test set"] if several else []), "seeds", scores[0], *([""] if bars else []), *scores[1:]]
    rows = []
    for item in comparisons:
        for index, row in enumerate(item.rows):
            by_column = dict(zip(item.score_columns(), item.score_cells(row), strict=True))
            cells = [by_column.get(column, Cell(MISSING)) for column in scores]
            if bars:
                cells.insert(1, _bar(item, row, index))
            names = [Cell(row.name), *([Cell(item.where)] if several else []), Cell(str(len(row.seeds)))]
            rows.append(TableRow((*names, *cells, *(item.cost_cells(row) if costed else [])), look(index)))
    costs, parts = (first.cost_columns(), (len(columns),)) if costed else ([], ())
    title = "" if several else first.where
    shown = Table((*columns, *costs), tuple(rows), title, tuple(shared_notes(comparisons)), parts=parts)
    return [shown, cost_table(first)] if several and first.costed else [shown]


def _score_columns(comparisons: Sequence[Comparison]) -> list[str]:
    return list(dict.fromkeys(column for comparison in comparisons for column in comparison.score_columns()))


def cost_table(comparison: Comparison) -> Table:
    """Return the cost of every system."""
    rows = [
        TableRow((Cell(row.name), *comparison.cost_cells(row)), look(index))
        for index, row in enumerate(comparison.rows)
    ]
    return Table(("system", *comparison.cost_columns()), tuple(rows), "cost of one seed")


def shared_notes(comparisons: Sequence[Comparison]) -> list[str]:
    """Return the notes of all test sets, each once; before one that does not hold for all are the sets of which it is.

    A note that holds for the mean and one set more is one of the set.
    """
    sets: dict[str, list[str]] = {}
    for comparison in comparisons:
        for note in comparison.notes:
            sets.setdefault(note, []).append(comparison.test)
    return [note if len(tests) == len(comparisons) else f"{', '.join(tests)}: {note}" for note, tests in sets.items()]


def by_test(comparisons: Sequence[Comparison]) -> Table:
    """Return the deciding score of every system on every test set, with its difference to the first system.

    Shades say how far a score lies from the baseline's on the same set, as a share of the farthest.
    """
    reach = max((abs(item.gain(row) or 0.0) for item in comparisons for row in item.rows), default=0.0) or 1.0
    systems = list(dict.fromkeys(row.name for comparison in comparisons for row in comparison.rows))
    by_name = [{row.name: row for row in comparison.rows} for comparison in comparisons]
    rows = []
    for index, name in enumerate(systems):
        cells = [_by_test_cell(item, known.get(name), reach) for item, known in zip(comparisons, by_name, strict=True)]
        rows.append(TableRow((Cell(name), *cells), look(index)))
    return Table(("system", *(comparison.test for comparison in comparisons)), tuple(rows), "by test set")


def _by_test_cell(comparison: Comparison, row: Row | None, reach: float) -> Cell:
    score = row.scores.get(comparison.metrics[0]) if row else None
    if row is None or score is None:
        return Cell(MISSING)
    gain = comparison.gain(row)
    hint = f"{row.name} on {comparison.where}: {interval(score)}"
    hint += "" if gain is None else f", difference {row.difference_text}"
    return Cell(f"{score.value:.1f}{row.mark}", score.value, None if gain is None else gain / reach, hint=hint)


def _bar(comparison: Comparison, row: Row, index: int) -> Cell:
    """Draw a score's interval over the range of all systems on the same test set."""
    metric = comparison.metrics[0]
    estimates = [score for other in comparison.rows if (score := other.scores.get(metric))]
    score, base = row.scores.get(metric), comparison.rows[0].scores.get(metric)
    if score is None:
        return Cell("")
    low, high = min(estimate.low for estimate in estimates), max(estimate.high for estimate in estimates)

    def share(value: float) -> float:
        return (value - low) / ((high - low) or 1.0)

    baseline = share(base.value) if base else None
    bar = Bar(share(score.low), share(score.value), share(score.high), baseline, look(index).colour)
    return Cell("", bar=bar, hint=interval(score))


def frame(comparisons: Sequence[Comparison]) -> pd.DataFrame:
    """Return a row for every test set, system and metric, all numbers exact.

    The difference, in the metric that decides, is in the rows of that metric alone.
    """
    return pd.DataFrame([record for item in comparisons for row in item.rows for record in _records(item, row)])


def _records(comparison: Comparison, row: Row) -> list[dict[str, Any]]:
    system = {
        "test": comparison.test,
        "system": row.name,
        "address": row.address,
        "seeds": " ".join(map(str, row.seeds)),
    }
    cost = {name: getattr(row.cost, name, None) for name in COSTS}
    records = []
    for metric in comparison.metrics:
        first, score = metric == comparison.metrics[0], row.scores.get(metric)
        tested = row.tested if first else None
        values = {name: getattr(score, name, None) for name in ("value", "low", "high", "n", "signature")}
        difference = {
            "difference": row.difference if first else None,
            "difference_low": getattr(tested, "low", None),
            "difference_high": getattr(tested, "high", None),
            "p": getattr(tested, "p_value", None),
            "p_corrected": row.corrected if first else None,
            "tested_over": getattr(tested, "over", None),
        }
        records.append({**system, "metric": metric, **values, **difference, **cost, "time_factor": row.time_factor})
    return records


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
        time_factor = result.cost.train_seconds / baseline.cost.train_seconds
    scored = tuple(seed for seed in result.runs if seed not in result.unscored)
    return Row(result.name, result.address, scored, scores, difference, None, None, result.cost, time_factor)


def _with_tests(rows: Sequence[Row], drawn: Sequence[Resampled | None], metric: str, method: Method) -> list[Row]:
    """Return the rows with their differences tested, and the p-values corrected for the number of tests."""
    baseline = drawn[0]
    differences = [
        decide(baseline, own, entry(metric).value, method) if baseline and own and row.difference is not None else None
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
    lines.append("intervals: bootstrap over sentences" + (", with Student's t over seeds" if several else ""))
    return lines


def _test_notes(rows: Sequence[Row], metric: str, method: Method) -> list[str]:
    """Say where the p-values come from."""
    tested = [row for row in rows if row.tested]
    if not tested:
        return []
    alone = [row.name for row in tested if row.tested and row.tested.over == "sentences"]
    both_levels = "two-level test over seeds and sentences"
    match method:
        case "bootstrap":
            how = "sacreBLEU's paired bootstrap"
        case "randomisation":
            how = f"sacreBLEU's approximate randomisation (ar:{TRIALS}|seed:{SEED})"
        case _ if not alone:
            how = f"{both_levels}, two-sided"
        case _ if len(alone) == len(tested):
            how = "paired bootstrap over sentences, two-sided"
        case _:
            how = f"{both_levels}, two-sided; paired bootstrap over sentences for {', '.join(alone)}"
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
    lines = _not_learnt(results, test)
    lines += [
        f"{result.name}: no scores yet for seed {', '.join(map(str, result.unscored))}"
        for result in results
        if result.unscored
    ]
    scored = [result for result in results if metrics[0] in result.tests.get(test, {})]
    unknown = [result.name for result in scored if metrics[0] not in result.resampled.get(test, {})]
    if unknown and len(results) > 1:
        lines.append(
            f"not tested, as the counts of sentences are gone: {', '.join(unknown)}; remove scores.json from "
            "the runs and give the command again that made them"
        )
    for metric in metrics:
        estimates = [result.tests[test][metric] for result in results if metric in result.tests.get(test, {})]
        if len({(estimate.measure, estimate.n) for estimate in estimates}) > 1:
            lines.append(f"{title(metric)} was not measured in the same way for all systems: do not compare it")
    if len({result.cost.device for result in results if result.cost}) > 1:
        lines.append("times were measured on different devices: do not compare them")
    return lines


def _not_learnt(results: Sequence[SystemResult], test: str) -> list[str]:
    """Return a warning that names the systems whose BLEU says that they have not learnt to translate."""
    low = [
        f"{result.name} ({title(metric)} {estimate.value:.1f})"
        for result in results
        for metric, estimate in result.tests.get(test, {}).items()
        if "bleu" in metric and estimate.value < LEAST_BLEU
    ]
    more = f" and {len(low) - 3} more" if len(low) > 3 else ""
    return [f"{WARNING}not learnt, differences mean nothing: {', '.join(low[:3])}{more}; train longer"] if low else []


def training_notes(results: Sequence[SystemResult]) -> list[str]:
    """Say what was held equal between the systems, and what of their training a reader must know."""
    costs = {result.name: result.cost for result in results if result.cost}
    if not costs:
        return []
    lines = [_budget(results), "passes: how often the plain text was read / each other view"]
    kinds = {name: " or ".join(WEIGHTS[kind] for kind in dict.fromkeys(cost.weights)) for name, cost in costs.items()}
    lines.append(f"weights: {_by_value(kinds)}")
    delayed = [f"{name} after update {cost.onset:,.0f}" for name, cost in costs.items() if cost.onset]
    if delayed:
        lines.append(f"divergence or attack acts in full: {'; '.join(delayed)}")
    pieces = {name: sum(cost.pieces.values()) for name, cost in costs.items()}
    lines.append("subwords of a plain record: " + _by_value({name: f"{count:.1f}" for name, count in pieces.items()}))
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
